/** One trace per rule, as a booted machine leaves it. */
export const TRACES: Readonly<Record<string, readonly string[]>> = {
  'machine-id': ['etc/machine-id', 'var/lib/dbus/machine-id'],
  'cloud-init state': [
    'var/lib/cloud/instances/i-1/sem/config_ssh',
    'var/lib/cloud/instance',
    'run/cloud-init/status.json',
  ],
  netplan: [
    'etc/netplan/50-cloud-init.yaml',
    'etc/network/interfaces.d/50-cloud-init',
    'etc/systemd/network/10-eth0.network',
  ],
  'ssh host keys': ['etc/ssh/ssh_host_ed25519_key', 'etc/ssh/ssh_host_rsa_key.pub'],
  logs: ['var/log/syslog', 'var/log/journal/0123/system.journal'],
  'mac rules': ['etc/udev/rules.d/70-persistent-net.rules'],
  resolver: ['etc/resolv.conf'],
  'dhcp leases': ['var/lib/dhcp/dhclient.leases'],
  'random seed': ['var/lib/systemd/random-seed'],
  history: ['root/.bash_history', 'home/ubuntu/.bash_history'],
  'k3s state': ['var/lib/rancher/k3s/server/token', 'etc/rancher/node/password'],
}
