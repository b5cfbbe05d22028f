import { type Config, type Host, K3S_CASES, type K3sComputers } from '../../k3s-cases.ts'
import { sleep } from '../hosts.ts'
import { CONTAINER_FLAGS } from '../manifests.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

/** The cases that the simulated K3s is held to, asked of the real one. */
export async function answers(stage: Stage, story: Story): Promise<void> {
  for (const name of stage.lab.hosts.keys()) await stage.lab.emptyDisk(name)
  await stage.lab.boot('h1', 'h2')
  const computers = await real(stage)
  for (const { name, run } of K3S_CASES)
    await story.step(name.slice(0, 44), async () => {
      await run(computers)
      return name
    })
  for (const name of ['h1', 'h2']) await stage.lab.emptyDisk(name)
}

const NAMES: Readonly<Record<Host, string>> = { first: 'h1', second: 'h2' }

async function real({ lab, mirror, programs }: Stage): Promise<K3sComputers> {
  const [program] = programs
  const url = `${mirror}/${encodeURIComponent(program?.version ?? '')}/${process.arch === 'arm64' ? 'k3s-arm64' : 'k3s'}`
  const must = async (host: Host, script: string, input?: string) => {
    const { code, out } = await lab.on(NAMES[host], script, input)
    if (code !== 0) throw new Error(`${NAMES[host]}: ${script}: ${out}`)
    return out
  }
  const address = (host: Host) => lab.hosts.get(NAMES[host])?.address ?? ''
  const write = async (host: Host, path: string, text: string) =>
    void (await must(host, `mkdir -p '${path.replace(/\/[^/]*$/, '')}' && umask 077 && cat >'${path}'`, text))
  for (const host of ['first', 'second'] as const)
    await must(host, `curl -fsSL -o /usr/local/bin/k3s '${url}' && chmod 755 /usr/local/bin/k3s`)
  return {
    version: program?.version ?? '',
    address,
    run: (host, argv) => lab.on(NAMES[host], argv.map((word) => `'${word}'`).join(' ')),
    write,
    async read(host, path) {
      const { code, out } = await lab.on(NAMES[host], `cat '${path}'`)
      return code === 0 ? out : undefined
    },
    async start(host, role, config) {
      await write(host, '/etc/rancher/k3s/config.yaml', JSON.stringify(whole(host, role, config, address(host))))
      const unit = role === 'server' ? 'k3s' : 'k3s-agent'
      await write(host, `/etc/systemd/system/${unit}.service`, unitOf(role))
      await must(
        host,
        `date +%s >/run/started && systemctl daemon-reload && systemctl start --no-block ${unit}.service`,
      )
    },
    async stop(host) {
      await must(host, 'for u in k3s k3s-agent; do systemctl stop $u.service 2>/dev/null; done; true')
    },
    async log(host) {
      const units = '-u k3s -u k3s-agent -o cat --no-pager'
      return (await lab.on(NAMES[host], `journalctl ${units} --since "@$(cat /run/started)"`)).out
    },
    async clear(host) {
      // What pods hold mounted goes first; in these cases none runs.
      await must(host, 'rm -rf /etc/rancher /etc/systemd/system/k3s*.service /var/lib/rancher/k3s/server')
      await must(
        host,
        'find /var/lib/rancher/k3s/agent -mindepth 1 -maxdepth 1 -name "*.crt" -delete 2>/dev/null; true',
      )
    },
    wait: sleep,
  }
}

/** With what a kubelet in a container needs, which is not part of any case. */
function whole(host: Host, role: 'server' | 'agent', config: Config, address: string): Config {
  const flags: Config = { ...CONTAINER_FLAGS, 'node-ip': address, 'node-name': host }
  if (role === 'agent') return { 'node-name': host, ...config }
  return {
    ...flags,
    'flannel-backend': 'host-gw',
    disable: ['traefik', 'servicelb', 'metrics-server', 'local-storage', 'coredns'],
    ...config,
  }
}

function unitOf(role: 'server' | 'agent'): string {
  return `[Service]
Type=notify
KillMode=process
Delegate=yes
LimitNOFILE=1048576
TasksMax=infinity
TimeoutStartSec=0
Restart=always
RestartSec=5s
ExecStart=/usr/local/bin/k3s ${role}
`
}
