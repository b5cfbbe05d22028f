import { type Descriptions, under } from './describe.ts'

/** A step that may take too long. */
function deadline(step: string, about: string): Descriptions {
  return {
    [step]: about,
    ...under(step, {
      after: 'How long the step may take, like 10m.',
      choice: 'What croft does then: wait keeps waiting, force forces it or continues without it, abort goes back.',
    }),
  }
}

export const power: Descriptions = {
  description: 'One line for people.',
  cluster: 'Cluster whose workloads and nodes croft switches; without it croft switches only machines and hosts.',
  state: 'State while no order and no schedule says otherwise: on or off.',
  hosts: 'Hosts that croft switches as well; each needs wake or bmc in its Host.',
  'hosts.name': 'Name of the Host.',
  'hosts.level': 'Level of the UPS at which the host goes off, 1 first.',
  'hosts.watts': 'Power draw for the estimate of energy; without it the host is not in the estimate.',
  'hosts.watts.on': 'Watts while it is on.',
  'hosts.watts.off': 'Watts while it is off.',
  machines:
    'Further machines that go off after the nodes: Machine/NAME, EnvironmentVM/NAME or EnvironmentContainer/NAME.',
  infrastructure: 'Machines for gateway, DNS and DHCP, which go off last and come on first.',
  tiers: 'Rules for workloads whose tier croft cannot determine itself; the first match applies.',
  'tiers.tier': 'Tier of the matching workloads.',
  'tiers.namespaces': 'Namespaces of the workloads; without any, all.',
  'tiers.labels': 'Labels of the workloads; without any, all.',
  hooks: 'Commands that croft runs before a tier goes down or after it came up.',
  'hooks.name': 'Name of the hook, for plans and events.',
  'hooks.tier': 'Tier that the hook belongs to.',
  'hooks.when': 'off runs it before the tier goes down, on after the tier came up.',
  'hooks.on': 'Name of the Host that runs the command.',
  'hooks.run': 'Program and its arguments; no shell reads them.',
  deadlines: 'How long each step may take, and what croft does then.',
  ...under('deadlines', {
    ...deadline('scale', 'Scaling workloads down.'),
    ...deadline('detach', 'Detaching volumes.'),
    ...deadline('drain', 'Draining nodes.'),
    ...deadline('stop', 'Stopping machines and hosts.'),
    ...deadline('start', 'Starting machines and hosts.'),
  }),
  holds: 'What prevents power-off.',
  'holds.people': 'Whether people who are logged in on a node prevent it.',
  'holds.peopleIdle': 'A login without input for this long no longer counts, like 8h.',
  'holds.backups': 'Whether running backups prevent it.',
  'holds.jobs': 'Whether running Jobs prevent it.',
  'holds.jobsAtMost': 'A Job that has run for this long no longer counts, like 1d.',
  schedule: 'When croft switches off and on; without it only on order.',
  'schedule.timeZone': 'Time zone of the schedule, like Europe/Berlin.',
  'schedule.off': 'Cron lines for power-off, like 30 23 * * *.',
  'schedule.on': 'Cron lines for power-on, like 0 7 * * 1-5.',
  'schedule.except': 'Local days without a scheduled power-off, like 2026-12-24.',
  idle: 'How long a node with power: onDemand may have nothing to run before croft puts it to sleep, like 10m.',
  ups: 'UPS whose battery level switches hosts off; without it croft watches none.',
  'ups.name': 'NUT name of the UPS, like rack@192.168.4.2.',
  'ups.levels': 'Battery levels and the hosts that go off at each.',
  'ups.levels.below': 'Charge in percent at or below which the level applies, on battery.',
  'ups.levels.level': 'Hosts of this level and of lower levels go off.',
  'ups.wakeAbove': 'Charge in percent below which croft wakes no host after mains power is back.',
  ha: 'Whether croft disarms the HA of the hypervisor before guests stop, and arms it again at power-on.',
  strangers: 'Undeclared guests on a host that is to go off: hold it, or shutdown the host with them.',
  checks: 'HealthChecks that must pass at power-on before workloads start, in addition to the checks of croft.',
  'checks.dns': 'Names of HealthChecks for DNS.',
  'checks.storage': 'Names of HealthChecks for storage.',
}
