import type { Tree, TreeMap } from '../model/vm.ts'
import { GATES_UNIT, type GateSettings, gateFiles, type NodeFile } from './gates.ts'
import { NODE_PROGRAM } from './node-program.ts'
import { NODE_PROGRAM_TEXT } from './programs.ts'

export interface NodeSeed {
  readonly gates: GateSettings
  readonly ipv6: boolean
  /** Packages that the first boot installs; none where nothing can be reached. */
  readonly packages: readonly string[]
}

/**
 * Returns a node's part of the first-boot document: the prerequisites of K3s, not K3s itself. It has no token and no
 * configuration: they come over a shell when the node joins, so no disc carries a secret, and a changed flag does not
 * make a machine outdated.
 */
export function nodeSeed({ gates, ipv6, packages }: NodeSeed): TreeMap {
  const files: readonly NodeFile[] = [
    { path: NODE_PROGRAM, mode: '0755', text: NODE_PROGRAM_TEXT },
    { path: '/etc/modules-load.d/croft-k3s.conf', mode: '0644', text: `${MODULES.join('\n')}\n` },
    { path: '/etc/sysctl.d/90-croft-k3s.conf', mode: '0644', text: sysctlText(ipv6) },
    ...gateFiles(gates),
  ]
  return {
    manage_etc_hosts: 'localhost',
    ...(packages.length === 0 ? {} : { packages: [...packages] }),
    write_files: files.map(({ path, mode, text }): Tree => ({ path, permissions: mode, content: text })),
    runcmd: [
      ['swapoff', '-a'],
      // Keeps swap off, even if fstab or the image enables it.
      ['systemctl', 'mask', 'swap.target'],
      ...MODULES.map((module): Tree => ['modprobe', module]),
      ['sysctl', '--system'],
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', '--now', 'qemu-guest-agent'],
      ['systemctl', 'enable', GATES_UNIT],
      ['systemctl', 'start', '--no-block', GATES_UNIT],
    ],
  }
}

const MODULES = ['overlay', 'br_netfilter']

function sysctlText(ipv6: boolean): string {
  const settings: readonly (readonly [string, number])[] = [
    ['net.bridge.bridge-nf-call-iptables', 1],
    ['net.bridge.bridge-nf-call-ip6tables', 1],
    ['net.ipv4.ip_forward', 1],
    ...(ipv6 ? [['net.ipv6.conf.all.forwarding', 1] as const] : []),
    ['fs.inotify.max_user_instances', 8192],
    ['fs.inotify.max_user_watches', 524_288],
  ]
  return settings.map(([name, value]) => `${name} = ${value}\n`).join('')
}
