# Records the verdicts of the installed Puppet in verdicts.json: for each value of a group, whether a catalog with one
# resource, which has the value, is accepted (+) or refused (-).
#
#   ruby record.rb verdicts.json
require 'json'
require 'puppet'
require 'tmpdir'

def accepted?(type, title, parameters)
  resource = { type: type.capitalize, title: title, kind: 'compilable_type', parameters: parameters }
  catalog = { name: 'n', version: 1, catalog_format: 2, environment: 'production', resources: [resource] }
  Puppet::Resource::Catalog.from_data_hash(JSON.parse(JSON.generate(catalog))).to_ral.finalize
  true
rescue StandardError
  false
end

def verdicts(group, values)
  values.map do |value|
    if group['parameter'] == 'title'
      accepted?(group['type'], value, group.fetch('with', {}))
    else
      accepted?(group['type'], group['title'], group.fetch('with', {}).merge(group['parameter'] => value))
    end ? '+' : '-'
  end.join
end

file = ARGV.fetch(0)
table = JSON.parse(File.read(file))
scratch = Dir.mktmpdir
Puppet.initialize_settings(%w[conf var code run log].flat_map { |name| ["--#{name}dir", "#{scratch}/#{name}"] })
Puppet::Util::Log.level = :crit
environment = Puppet::Node::Environment.create(:production, [])
Puppet.override(current_environment: environment, environments: Puppet::Environments::Static.new(environment)) do
  table['groups'].each { |group| group['verdicts'] = verdicts(group, table['values'].fetch(group['values'])) }
end
lines = [%({"puppet": "#{Puppet.version}", "values": {)]
lines << table['values'].map { |name, values| "#{name.to_json}: #{values.to_json}" }.join(",\n")
lines << '}, "groups": [' << table['groups'].map(&:to_json).join(",\n") << ']}'
File.write(file, lines.join("\n") + "\n")
