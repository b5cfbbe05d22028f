import { NODE_PROGRAM } from './node-program.ts'
import { GATES_TEXT } from './programs.ts'

/*
 * Gates that a node passes before K3s may start for the first time. They are a unit of systemd that K3s's own units
 * require, so nothing falls through: a gate that does not open by its deadline leaves K3s stopped, under its name.
 */

export const GATES_PROGRAM = '/usr/local/lib/croft/gates'
export const GATES_UNIT = 'croft-gates.service'
/** Holds NodeFacts.gates as JSON: `[]` once all are passed, else the one that is waited for. Absent: not tried yet. */
export const GATES_STATE = '/run/croft/gates.json'
/** One `name=value` per line: a deadline in seconds or `off` for each gate, `hostname_wanted` and `dns_name`. */
export const GATES_SETTINGS = '/etc/croft/gates'

/** In their order. */
export const GATES = ['route', 'dns', 'clock', 'hostname', 'api'] as const
export type GateName = (typeof GATES)[number]

export interface GateSettings {
  /** The required hostname. */
  readonly hostname: string
  /** A name that must be found before anything is fetched; without it only the API's own name is looked up. */
  readonly dnsName?: string
  /** Seconds, or undefined for a gate that stands open. */
  readonly deadlines: Readonly<Partial<Record<GateName, number>>>
}

export const GATE_DEADLINES: Readonly<Record<GateName, number>> = {
  route: 120,
  dns: 120,
  clock: 300,
  hostname: 120,
  api: 600,
}

/** A file as cloud-init and the program on the node both can write it. */
export interface NodeFile {
  readonly path: string
  readonly mode: string
  readonly text: string
}

/** Returns all files of the gates on a node. None of them is secret. */
export function gateFiles(settings: GateSettings): readonly NodeFile[] {
  return [
    { path: GATES_PROGRAM, mode: '0755', text: GATES_TEXT },
    { path: GATES_SETTINGS, mode: '0644', text: settingsText(settings) },
    { path: `/etc/systemd/system/${GATES_UNIT}`, mode: '0644', text: UNIT },
    { path: '/etc/systemd/system/k3s.service.d/10-croft-gates.conf', mode: '0644', text: REQUIRED },
    { path: '/etc/systemd/system/k3s-agent.service.d/10-croft-gates.conf', mode: '0644', text: REQUIRED },
  ]
}

function settingsText({ hostname, dnsName, deadlines }: GateSettings): string {
  const lines = [
    ...GATES.map((name) => `${name}=${deadlines[name] ?? 'off'}`),
    `hostname_wanted=${hostname}`,
    ...(dnsName === undefined ? [] : [`dns_name=${dnsName}`]),
  ]
  return `${lines.join('\n')}\n`
}

const UNIT = `[Unit]
Description=What must be in order before K3s may start
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
ExecStart=${GATES_PROGRAM}
TimeoutStartSec=infinity
Restart=on-failure
RestartSec=15s

[Install]
WantedBy=multi-user.target
`

/** What the gate of the disk looks for is noted each time that K3s has started. A fault of it stops nothing. */
const REQUIRED = `[Unit]
Requires=${GATES_UNIT}
After=${GATES_UNIT}

[Service]
ExecStartPost=-${NODE_PROGRAM} joined
`
