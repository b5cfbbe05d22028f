import { computerOf } from '../guest/life.ts'
import { conditionsOf } from '../kubernetes/object.ts'
import { find } from '../kubernetes/store.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import { putFile } from '../world/presets.ts'
import type { Computer, World } from '../world/types.ts'
import { issueLeaf } from './authorities.ts'
import { CONFIG_PATH } from './config-file.ts'
import { BINARY, KUBECONFIG, programText, unitName, unitPath } from './disk.ts'
import { INSTALLER_URL, STABLE } from './installer.ts'
import { startService } from './service.ts'

const TOKEN = 'homelab-8c1f0a6e2d'
const SERVERS = [109, 108]
const FORM_MS = 10 * 60_000

/**
 * The K3s cluster of the homelab: it runs on the two machines that were made and set up by hand; the prepared
 * user data makes a third one join them.
 */
export async function formHomelabCluster(world: World, past: VirtualClock): Promise<void> {
  const computers = SERVERS.flatMap((vmid) => {
    const guest = world.guests.get(vmid)
    return guest === undefined ? [] : [computerOf(world, guest)]
  })
  const [first] = computers
  if (first === undefined) return
  const address = first.addresses()[0] ?? ''
  for (const computer of computers) {
    const joins = computer === first ? { 'cluster-init': true } : { server: `https://${address}:6443` }
    computer.machine.files.write(CONFIG_PATH, JSON.stringify({ token: TOKEN, ...joins }))
    computer.machine.files.write(BINARY, programText(STABLE))
    computer.machine.files.write(unitPath('server'), '[Service]\nExecStart=/usr/local/bin/k3s server\n')
    computer.machine.enabled.add(unitName('server'))
    startService(computer)
    await past.runUntil(() => isReady(computer), { maxMs: FORM_MS })
    writeKubeconfig(computer)
  }
  letThirdJoin(world, address)
}

function isReady(computer: Computer): boolean {
  const { cluster, nodeName = '' } = computer.machine.k3s?.process ?? {}
  const node = cluster === undefined ? undefined : find(cluster.store, '/nodes', undefined, nodeName)
  return node !== undefined && conditionsOf(node).some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** As K3s leaves it for the administrator, who replaces the address to use it from elsewhere. */
function writeKubeconfig({ machine, world }: Computer): void {
  const files = machine.k3s?.process?.files ?? new Map<string, string>()
  const admin = { commonName: 'system:admin', organizations: ['system:masters'], usages: ['clientAuth'] as const }
  const { certificate, keyPem } = issueLeaf(files, 'client-ca', admin, world.clock.now())
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  machine.files.write(
    KUBECONFIG,
    `apiVersion: v1
kind: Config
clusters:
- name: default
  cluster:
    certificate-authority-data: ${base64(files.get('server-ca.crt') ?? '')}
    server: https://127.0.0.1:6443
contexts:
- name: default
  context: {cluster: default, user: default}
current-context: default
users:
- name: default
  user:
    client-certificate-data: ${base64(certificate.pem)}
    client-key-data: ${base64(keyPem)}
`,
  )
}

function letThirdJoin(world: World, server: string): void {
  const text = `#cloud-config
hostname: k3s-vm-fun-bedbug
packages:
  - qemu-guest-agent
write_files:
  - path: ${CONFIG_PATH}
    content: |
      server: https://${server}:6443
      token: ${TOKEN}
runcmd:
  - curl -sfL ${INSTALLER_URL} -o /root/install-k3s.sh
  - [sh, /root/install-k3s.sh, server]
`
  for (const host of world.hosts.values()) {
    if (host.volumes.get('local')?.has(USER_DATA) !== true) continue
    putFile(world, host, 'local', USER_DATA, { format: 'snippet', sizeBytes: text.length, text })
  }
}

const USER_DATA = 'snippets/k3s-server-fun-bedbug.yaml'
