import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** `infra/` as it is now, in the repository https://git.example/me/home.git. */
export const FORGE = `mkdir -p srv/me
git clone --quiet --bare infra srv/me/home.git
node ${ROOT}/bin/run ${ROOT}/test/docs/forge.ts srv > forge.log 2>&1 &
tries 200 test -e srv/ca.pem
cat srv/ca.pem >> /etc/ssl/certs/ca-certificates.crt
echo '127.0.0.1 git.example' >> /etc/hosts
export NO_PROXY=git.example`

/**
 * The house that the pages of reference speak of, on the simulator: the directory `infra/` with VMs that were there
 * before croft, the machine web-1, the VM old-one that Git no longer declares, and the cluster homelab. Its clock is
 * fast, so it stands after some seconds.
 */
export const HOUSE = `croft sim --preset homelab --port 0 --proxy --speed 20 --write infra/ > sim.log 2>&1 &
tries 600 test -e infra/sim.env
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
