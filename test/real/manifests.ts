/** The image that machines of the real test are made from. `host` makes it there, over SSH. */
export function imageManifest(host?: string): string {
  return `apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: debian}
spec:
  storage: vms
  build:
    debian: {suite: bookworm}
    files:
      - {path: /etc/croft-test, content: "put in by the build\\n"}
    run:
      - |
        # In the image, with its programs and after its files.
        test -s /etc/croft-test && . /etc/os-release
        echo "a step ran on $ID as $(id -un)" >/etc/croft-step
        useradd --system stepped
    size: 2Gi
    epoch: 1760000000
${host === undefined ? '' : `    host: ${host}\n`}`
}

export function sshHost(name: string, port: number, hostKey: string, keyFile: string): string {
  return `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec:
  ssh: {address: 127.0.0.1, port: ${port}, user: root, hostKeys: ["${hostKey}"], key: {file: ${keyFile}}}
`
}

export interface Declared {
  readonly port: number
  readonly hostKey: string
  /** File of the private key that sshd lets in. */
  readonly keyFile: string
  /** The public key that the guests let in. */
  readonly sshKey: string
  readonly poolPath: string
  readonly mtu: number
  readonly memory: string
  /** Undefined: not even their image yet. */
  readonly machines: readonly GuestName[] | undefined
}

/** One host, reached over SSH with its key pinned, and two machines with fixed addresses. */
export function labManifests(declared: Declared): string {
  const { port, hostKey, keyFile, memory } = declared
  const lab = `apiVersion: croft.dev/v1alpha1
kind: Libvirt
metadata: {name: lab}
spec:
  endpoint: qemu+ssh://root@127.0.0.1:${port}/system
  ssh: {hostKeys: ["${hostKey}"], key: {file: ${keyFile}}}
  # Software emulation: the processor's help may be there and not work.
  machines: {emulated: true}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: kvm}
spec:
  bindings:
    networks: {lan: {bridge: croft-real}}
    storages: {vms: croft-real}
---
apiVersion: croft.dev/v1alpha1
kind: LibvirtPool
metadata: {name: croft-real}
spec: {host: kvm, path: ${declared.poolPath}}
---
apiVersion: croft.dev/v1alpha1
kind: LibvirtNetwork
metadata: {name: croft-real}
spec: {host: kvm, mode: isolated, bridge: croftreal0, addresses: [192.168.231.1/24], dns: false, mtu: ${declared.mtu}}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: lan, gateway: 192.168.231.1, dns: {servers: [192.0.2.53]}}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: lan}
spec: {cidr: 192.168.231.0/24}
`
  if (declared.machines === undefined) return lab
  const image = imageManifest().replace('  build:', '  hosts: [kvm]\n  build:')
  const machines = declared.machines.map((name) =>
    name === 'web-1'
      ? machine(name, memory, declared.sshKey, '{disks: backing, bios: seabios}')
      : machine(name, '512Mi', declared.sshKey, '{disks: copy, bios: ovmf}'),
  )
  return [lab, image, ...machines].join('---\n')
}

export const GUESTS = { 'web-1': '192.168.231.10', 'web-2': '192.168.231.11' } as const
export type GuestName = keyof typeof GUESTS

function machine(name: GuestName, memory: string, sshKey: string, libvirt: string): string {
  return `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec:
  host: kvm
  cpu: {cores: 2}
  memory: ${memory}
  disks: [{size: 3Gi, image: debian, storage: vms}]
  networks: [{network: lan, address: ${GUESTS[name]}}]
  user: ops
  sshKeys: ["${sshKey}"]
  onBoot: true
  libvirt: ${libvirt}
  userData:
    # What takes a long time under emulation and proves nothing here.
    ssh_genkeytypes: [ed25519]
    locale: false
    write_files:
      - {path: /etc/written, content: "hello from croft\\n", permissions: "0640"}
`
}
