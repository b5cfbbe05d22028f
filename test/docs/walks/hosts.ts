import { hostRootPath } from '../../real-ssh/host-root.ts'
import { servedCluster } from '../cluster.ts'
import type { Walk } from '../reader.ts'
import { file } from './imports.ts'

/**
 * A small Debian with the real sshd, on addresses that pages name. It lets in the user k3s with a password, and sudo asks
 * for it: both questions of an enrolment get the same answer. It also answers as a Proxmox host where a page asks it
 * for the folder of a storage's disc images.
 */
const BOX = `mkdir ~/box
mount -t tmpfs none ~/box
mkdir ~/box/upper ~/box/work ~/box/root
mount -t overlay -o "lowerdir=${hostRootPath()},upperdir=$HOME/box/upper,workdir=$HOME/box/work" none ~/box/root
for one in dev proc; do mount --rbind /$one ~/box/root/$one; done
mount -t tmpfs none ~/box/root/run
mkdir -p ~/box/root/run/sshd ~/box/root/root/.ssh ~/box/root/var/lib/vz/template/iso
rm -f ~/box/root/etc/ssh/ssh_host_*
ssh-keygen -q -t ed25519 -N '' -f ~/box/root/etc/ssh/ssh_host_ed25519_key
chroot ~/box/root useradd --create-home --shell /bin/bash k3s
echo 'k3s:yes' | chroot ~/box/root chpasswd
echo 'k3s ALL=(ALL:ALL) ALL' > ~/box/root/etc/sudoers.d/k3s
cat > ~/box/root/usr/sbin/pvesm <<'END'
#!/bin/sh
[ "$1 \${2%%:*}" = 'path local' ] || { echo "storage '\${2%%:*}' does not exist" >&2; exit 2; }
echo "/var/lib/vz/template/\${2#*:}"
END
chmod +x ~/box/root/usr/sbin/pvesm
for one in 192.168.14.2 192.168.14.3 203.0.113.11; do ip address add $one/32 dev lo; done
chroot ~/box/root /usr/sbin/sshd
mkdir infra ~/.ssh
`

/** What the enrolment printed is what the reader commits. */
const COMMITTED = `sed -n '/^# The key/,$p' ~/terminal.0 | tr -d '\\r' > infra/cow.yaml
export SUDO_PASSWORD=yes`

const MOTD = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: words}
spec:
  hosts: [cow]
  files: [{path: /etc/motd, content: "declared\\n"}]`

const PVE1 = `ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/pve1
cp ~/.ssh/pve1.pub ~/box/root/root/.ssh/authorized_keys
cat > infra/pve1.yaml <<END
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: pve1}
spec: {ssh: {address: 192.168.14.3, hostKeys: ["$(cut -d ' ' -f 1,2 ~/box/root/etc/ssh/ssh_host_ed25519_key.pub)"], key: {file: ~/.ssh/pve1}}}
END
echo disc > debian.iso`

/** No host hears the packet, but it leaves. */
const DUCK = `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: duck}
spec: {wake: {mac: "6C:4B:90:00:00:04", broadcast: 127.255.255.255}}`

const HETZNER = `hetzner_token: word
cluster_name: prod
k3s_version: v1.36.3+k3s1
networking: {ssh: {port: 22, use_agent: false, private_key_path: ~/.ssh/id_ed25519}}
masters_pool: {instance_type: cpx22, instance_count: 1, locations: [fsn1]}`

export const HOSTS: Walk = {
  name: 'hosts over SSH',
  pages: ['docs/cli.md#host', 'docs/import/hetzner-k3s.md'],
  ground: BOX,
  steps: {
    'croft host enroll cow --address 192.168.14.2 --user k3s': {
      answer: 'yes',
      says: /takes no passwords any more[\s\S]*^kind: Host\r?$/m,
    },
    'croft host diff cow --dir infra/': {
      before: `${COMMITTED}\n${file('infra/words.yaml', MOTD)}`,
      exit: 2,
      says: /^ +\+declared$/m,
    },
    'croft host run cow --dir infra/ -- journalctl -u k3s -n 50': { says: /No journal files were found|No entries/ },
    'croft host copy cow ./motd /etc/motd --dir infra/': { before: 'echo welcome > motd' },
    'croft host upload-iso pve1 ./debian.iso --storage local --dir infra/': {
      before: `expected grep --quiet welcome ~/box/root/etc/motd\n${PVE1}`,
      says: /^local:iso\/debian\.iso$/m,
    },
    'croft host wake duck --dir infra/': {
      before: `expected cmp debian.iso ~/box/root/var/lib/vz/template/iso/debian.iso\n${file('infra/duck.yaml', DUCK)}`,
      says: /^duck was woken/m,
    },
    'kubectl get nodes -o json > cluster/nodes.json': {
      before: [
        file('cluster/cluster.yaml', HETZNER),
        servedCluster('hetzner', {
          name: 'prod-master1',
          address: '10.0.0.2',
          flags: { 'node-external-ip': '203.0.113.11' },
        }),
      ].join('\n'),
    },
    'croft import hetzner-k3s cluster --write infra/cluster.yaml': { exit: 2, says: /: 2 objects\./ },
  },
}
