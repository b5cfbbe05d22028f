import { CONTAINER_FLAGS } from './manifests.ts'
import type { Stage } from './stage.ts'

/**
 * A setup without croft: the same K3s with the same flags on the same hosts, one server after the
 * other, each as soon as systemd says that the one before is up. Returns the seconds until all are Ready.
 */
export async function formByHand(
  { lab, mirror, programs }: Stage,
  names: readonly string[],
  datastore: 'etcd' | 'sqlite' = 'etcd',
): Promise<number> {
  const [program] = programs
  const first = lab.hosts.get(names[0] ?? '')
  if (program === undefined || first === undefined) throw new Error('there is no K3s, or no host')
  const startedMs = Date.now()
  const url = `${mirror}/${encodeURIComponent(program.version)}/${process.arch === 'arm64' ? 'k3s-arm64' : 'k3s'}`
  for (const name of names) {
    const address = lab.hosts.get(name)?.address ?? ''
    const begins = datastore === 'etcd' ? 'cluster-init: true' : ''
    const place = name === first.name ? begins : `server: https://${first.address}:6443`
    const script = `url='${url}' sum=${program.sha256}\n${SCRIPT}`
    const ran = await lab.on(name, script, config(place, name, address))
    if (ran.code !== 0) throw new Error(`by hand, on ${name}: ${ran.out}`)
  }
  const wait = `for i in $(seq 300); do [ "$(k3s kubectl get nodes --no-headers 2>/dev/null | grep -cw Ready)" = ${names.length} ] && exit 0; sleep 1; done; k3s kubectl get nodes; exit 1`
  const ran = await lab.on(first.name, wait)
  if (ran.code !== 0) throw new Error(`the nodes that were made by hand do not become Ready: ${ran.out}`)
  return (Date.now() - startedMs) / 1000
}

function config(place: string, name: string, address: string): string {
  return `${place}
token: by-hand-and-not-secret
node-name: ${name}
node-ip: ${address}
flannel-backend: host-gw
secrets-encryption: true
disable: [traefik, servicelb, metrics-server, local-storage, coredns]
${Object.entries(CONTAINER_FLAGS)
  .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  .join('\n')}
`
}

const SCRIPT = `set -e
mkdir -p /etc/rancher/k3s
cat >/etc/rancher/k3s/config.yaml
curl -fsSL -o /usr/local/bin/k3s "$url"
echo "$sum  /usr/local/bin/k3s" | sha256sum -c --quiet
chmod 755 /usr/local/bin/k3s
cat >/etc/systemd/system/k3s.service <<UNIT
[Unit]
After=network-online.target
[Install]
WantedBy=multi-user.target
[Service]
Type=notify
KillMode=process
Delegate=yes
LimitNOFILE=1048576
TasksMax=infinity
TimeoutStartSec=0
Restart=always
RestartSec=5s
ExecStart=/usr/local/bin/k3s server
UNIT
systemctl daemon-reload
systemctl enable --now k3s.service
`
