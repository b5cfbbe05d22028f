import { createHash } from 'node:crypto'
import { NODE_PROGRAM } from '../../src/k3s/node-program.ts'
import { unitName } from '../k3s/disk.ts'
import type { Computer } from '../world/types.ts'
import type { Outcome } from './commands.ts'

/** Returns a machine's answer to the check whether K3s could run there. */
export function nodeCheck({ machine, world }: Computer, sources: readonly string[]): Outcome {
  const { trouble } = machine
  const program = machine.files.read(NODE_PROGRAM)
  const tools = ['systemctl', 'systemd-run', 'journalctl', 'sha256sum', 'base64', 'iptables', 'modprobe']
  const reached = (source: string) => {
    if (source.startsWith('/')) return machine.files.read(source) === undefined ? 'no such file' : 'ok'
    if (trouble.noCurl === true) return 'neither curl nor wget is here'
    return trouble.noNetwork === true ? 'curl: (28) Connection timed out' : 'ok'
  }
  const clockMs = (world.clock.outsideMs?.() ?? world.clock.now()) + (trouble.wrongClock === true ? 3_600_000 : 0)
  const lines = [
    `uid ${trouble.notRoot === true ? 1000 : 0}`,
    'machine x86_64',
    `clock ${Math.floor(clockMs / 1000)}`,
    ...[...tools, ...(trouble.noCurl === true ? [] : ['curl'])].map((name) => `has ${name}`),
    ...(program === undefined ? [] : [`program ${createHash('sha256').update(program).digest('hex')}`]),
    `disk ${trouble.diskFull === true ? 12 : 40 * 2 ** 20}`,
    'memory 8000000',
    'cgroup cgroup2fs',
    'controllers cpuset cpu io memory hugetlb pids rdma misc',
    ...(machine.k3s?.state === 'running' ? running(machine.k3s.process?.role ?? 'server') : []),
    ...(trouble.portTaken === true ? ['port 6443'] : []),
    ...sources.map((source) => `source ${source} ${reached(source)}`),
    'end',
  ]
  return { out: `${lines.join('\n')}\n` }
}

/** Ports: every kubelet's, and those of the API and etcd on a server. */
function running(role: 'server' | 'agent'): readonly string[] {
  const ports = role === 'server' ? [6443, 2379, 2380, 10250] : [10250]
  return [`runs ${unitName(role)}`, ...ports.map((port) => `port ${port}`)]
}
