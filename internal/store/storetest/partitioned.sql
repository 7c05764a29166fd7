-- Makes each table that has a column site one that is partitioned by its hash, as a sharded Postgres has it. The tables
-- have few rows. The partitions of documents are documents_0, documents_1 and so on, and so are those of its indexes.
-- Foreign keys come last, because they refer to keys. Before version 17 a partitioned table had no identity columns.
DO $$
DECLARE
	this record;
BEGIN
	CREATE SCHEMA plain;
	CREATE TEMPORARY TABLE tables AS
		SELECT c.oid, c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attname = 'site';
	CREATE TEMPORARY TABLE definitions AS
		SELECT t.name, c.contype::text AS type, format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.name, c.conname,
			pg_get_constraintdef(c.oid)) AS sql
		FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid WHERE c.contype IN ('p', 'u', 'c', 'f')
		UNION ALL
		SELECT t.name, 'i', pg_get_indexdef(i.indexrelid) FROM tables t JOIN pg_index i ON i.indrelid = t.oid
		WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u'))
		UNION ALL
		SELECT t.name, 's', format('CREATE SEQUENCE %1$I OWNED BY %2$I.%3$I; ALTER TABLE %2$I ALTER %3$I SET DEFAULT nextval(%1$L)',
			t.name || '_numbers', t.name, a.attname)
		FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid WHERE a.attidentity <> '';
	FOR this IN SELECT * FROM tables LOOP
		EXECUTE format('ALTER TABLE %I SET SCHEMA plain', this.name);
		EXECUTE format('CREATE TABLE %I (LIKE plain.%I INCLUDING DEFAULTS) PARTITION BY HASH (site)', this.name, this.name);
		FOR n IN 0 .. :partitions - 1 LOOP
			EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)', this.name || '_' || n,
				this.name, :partitions, n);
		END LOOP;
	END LOOP;
	FOR this IN SELECT * FROM definitions ORDER BY type = 'f' LOOP
		EXECUTE this.sql;
	END LOOP;
	FOR this IN SELECT leaf.relname AS leaf, whole.relname AS whole, substring(l.relname FROM '[0-9]+$') AS n
		FROM tables t JOIN pg_index i ON i.indrelid = t.name::regclass JOIN pg_class whole ON whole.oid = i.indexrelid
		JOIN pg_inherits h ON h.inhparent = i.indexrelid JOIN pg_class leaf ON leaf.oid = h.inhrelid
		JOIN pg_index li ON li.indexrelid = leaf.oid JOIN pg_class l ON l.oid = li.indrelid LOOP
		EXECUTE format('ALTER INDEX %I RENAME TO %I', this.leaf, this.whole || '_' || this.n);
	END LOOP;
	FOR this IN SELECT * FROM tables ORDER BY name = 'sites' DESC LOOP
		EXECUTE format('INSERT INTO %I SELECT * FROM plain.%I', this.name, this.name);
	END LOOP;
	DROP SCHEMA plain CASCADE;
	DROP TABLE tables, definitions;
END $$;
