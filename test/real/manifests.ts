/** The estate of the real test: one host, this one; one machine with a fixed address. */
export function manifests(sshKey: string, sha256: string, memory: string, machine: boolean): string {
  const lab = `apiVersion: croft.dev/v1alpha1
kind: Libvirt
metadata: {name: lab}
spec:
  host: here
  # Software emulation: the processor's help may be there and not work.
  machines: {emulated: true}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: here}
spec:
  local: true
  bindings:
    networks: {lan: {bridge: croft-real}}
    storages: {vms: croft-real}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: lan, gateway: 192.168.231.1}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: lan}
spec: {cidr: 192.168.231.0/24}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: debian}
spec:
  storage: vms
  hosts: [here]
  checksum: sha256:${sha256}
  build: {debian: {suite: bookworm}}
`
  if (!machine) return lab
  return `${lab}---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: web-1}
spec:
  host: here
  cpu: {cores: 2}
  memory: ${memory}
  disks: [{size: 3Gi, image: debian, storage: vms}]
  networks: [{network: lan, address: 192.168.231.10}]
  user: ops
  sshKeys: ["${sshKey}"]
  userData:
    # What takes a long time under emulation and proves nothing here.
    ssh_genkeytypes: [ed25519]
    locale: false
    write_files:
      - {path: /etc/written, content: "hello from croft\\n"}
`
}
