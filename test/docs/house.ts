import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** `infra/` as it is now, in the repository https://git.example/me/home.git. */
export const FORGE = `mkdir -p srv/me
git clone --quiet --bare infra srv/me/home.git
node ${ROOT}/bin/run ${ROOT}/test/docs/forge.ts srv > forge.log 2>&1 &
tries 1200 test -e srv/ca.pem
cat srv/ca.pem >> /etc/ssl/certs/ca-certificates.crt
echo '127.0.0.1 git.example' >> /etc/hosts
export NO_PROXY=git.example no_proxy=git.example`

/** api.github.com with the pull request 12 of me/home; its comments are in github/comments. */
export const GITHUB = `mkdir github
node ${ROOT}/bin/run ${ROOT}/test/docs/github.ts github > github.log 2>&1 &
tries 1200 test -e github/ca.pem
export NODE_EXTRA_CA_CERTS=$PWD/github/ca.pem
echo '127.0.0.2 api.github.com' >> /etc/hosts`

/** The pveum of a host of the simulated datacentre: root runs it there. */
export const PVEUM = `printf '#!/bin/sh\\nPROXMOX_TOKEN=%s PROXMOX=%s exec node %s "$@"\\n' "'$PROXMOX_TOKEN'" "$endpoint" '${ROOT}/bin/run ${ROOT}/test/docs/pveum.ts' > ~/bin/pveum
chmod +x ~/bin/pveum`

/**
 * A libvirt host with one domain, as the only thing in infra/ until house/ is moved back: the real virsh with its test driver, wherever croft asks it to connect to. croft starts
 * programs of the system and none from the user's PATH, so it takes the place of virsh itself.
 */
export const LIBVIRT_HOST = `mv infra house
mkdir infra
cat > infra/attic.yaml <<'END'
apiVersion: croft.dev/v1alpha1
kind: Libvirt
metadata: {name: attic}
spec: {endpoint: "qemu:///system"}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: attic}
spec: {connection: attic, bindings: {networks: {lan: {bridge: default}}, storages: {fast: default}}}
END
cat > ~/attic.xml <<'END'
<node>
  <domain type='test'>
    <name>old-web</name>
    <uuid>11111111-2222-4333-8444-555555555555</uuid>
    <memory>2097152</memory>
    <vcpu>2</vcpu>
    <os><type>hvm</type></os>
    <devices><interface type='network'><mac address='52:54:00:0a:0b:0c'/><source network='default'/></interface></devices>
  </domain>
  <network>
    <name>default</name><uuid>dddddddd-2222-4333-8444-555555555555</uuid>
    <forward/><bridge name='virbr0'/><ip address='192.168.122.1' netmask='255.255.255.0'/>
  </network>
  <pool type='dir'>
    <name>default</name><uuid>dfe224cb-28fb-8dd0-c4b2-64eb3f0f4566</uuid><target><path>/default-pool</path></target>
  </pool>
</node>
END
virsh=$(command -v virsh)
cp "$virsh" ~/virsh-itself
printf '#!/bin/sh\nshift 2\nexec %s -c test://%s "$@"\n' ~/virsh-itself ~/attic.xml > ~/virsh
chmod +x ~/virsh
mount --bind ~/virsh "$virsh"`

/**
 * The house that the pages of reference speak of, on the simulator: the directory `infra/` with VMs that were there
 * before croft, the machine web-1, the VM old-one that Git no longer declares, and the cluster homelab. Its clock is
 * fast, so it stands after some seconds.
 */
export const HOUSE = `croft sim --preset homelab --port 0 --proxy --speed 20 --write infra/ > sim.log 2>&1 &
tries 1200 test -e infra/sim.env
. infra/sim.env
mkdir infra/machines
cp examples/homelab/machines/k3s-vm-fun-bedbug.yaml infra/machines/
for host in pumped-piglet still-fawn fun-bedbug; do cat >> infra/ground.yaml <<EOF
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: $host}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}}
---
EOF
done
cat >> infra/ground.yaml <<'EOF'
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: nodes}
spec: {cidr: 192.168.4.0/24, ranges: [{from: 192.168.4.90, to: 192.168.4.99}]}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: nodes, gateway: 192.168.4.1, dns: {servers: [192.168.4.1], domain: home.arpa}}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec:
  url: https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img
  fileName: noble-house.qcow2
  storage: files
---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: server}
spec: {cpu: {cores: 2}, memory: 4Gi, disks: [{size: 40Gi, image: noble, storage: fast}]}
---
apiVersion: croft.dev/v1alpha1
kind: Power
metadata: {name: homelab}
spec: {cluster: homelab}
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: hello}
spec:
  cluster: homelab
  objects:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: hello}, data: {greeting: hello}}
EOF
cat > infra/vm.yaml <<'EOF'
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: web-1, labels: {role: server}}
spec:
  host: fun-bedbug
  proxmox: {serialPort: true}
  cpu: {cores: 2}
  memory: 2Gi
  disks: [{size: 20Gi, image: noble, storage: fast}]
  networks: [{network: lan, address: 192.168.4.90}]
EOF
cat > infra/cluster.yaml <<EOF
apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: homelab}
spec:
  version: v1.34.3+k3s1
  endpoint: {vip: 192.168.4.79, kubeVip: {version: v1.0.3}}
  network: lan
  class: server
  servers:
    - {name: k3s-1, host: pumped-piglet}
    - {name: k3s-2, host: still-fawn}
    - {name: k3s-3, host: fun-bedbug}
  checksums: $SIM_CHECKSUMS
EOF
cat > infra/old-one.yaml <<EOF
apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: old-one}
spec:
  deletionPolicy: Orphan
  forProvider: {nodeName: still-fawn, cpu: {cores: 1}, memory: {dedicated: 512}, started: false}
EOF
croft init infra/ --yes
croft apply infra/ --yes --timeout 5h
rm infra/old-one.yaml
endpoint=$(sed -n "s/^  endpoint: *//p" infra/proxmox.yaml)
`

/** The same house; the backups of its cluster are on a share that outlives it. */
export const HOUSE_WITH_BACKUPS = HOUSE.replace(
  '  checksums: $SIM_CHECKSUMS\n',
  `  checksums: $SIM_CHECKSUMS
  backup: {schedule: "0 3 * * *", to: {nfs: {server: nas.home.arpa, path: /srv/etcd}}}
`,
)

/** All that is left is the repository, the age key, the token of Proxmox and the share: every server is destroyed. */
export const BURNT = `. infra/sim.env
kubectl --kubeconfig homelab.yaml create configmap precious
croft cluster backup homelab --now --yes --dir infra/
SNAPSHOT=$(croft cluster backup homelab --dir infra/ | head -n 1 | cut -d ' ' -f 1)
cp ~/.local/state/croft/*/vault/age-key.txt ~/key.txt
printf 'sim.env\\n' > infra/.gitignore
git -C infra init --quiet --initial-branch main
git -C infra add .
git -C infra commit --quiet --message 'The house'
${FORGE}
proxmox() { curl --silent --show-error --fail --insecure --noproxy '*' --header "Authorization: PVEAPIToken=$PROXMOX_TOKEN" --output /dev/null --request "$1" "$endpoint/api2/json/nodes/$2"; }
for one in pumped-piglet/qemu/101 still-fawn/qemu/102 fun-bedbug/qemu/103; do
  proxmox POST $one/status/stop
  tries 1200 proxmox DELETE $one
done
rm -r infra ~/.local`
