-- A rollback carries over the results of the revision that it goes back to: this is the one that they were posted about.
ALTER TABLE results ADD COLUMN carried_from bigint;
