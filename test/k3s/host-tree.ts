import type { HostTree } from '../real-ssh/host-root.ts'

/** A Debian prepared for K3s: its requirements, and no part of K3s. */
export const K3S_HOST: HostTree = {
  name: 'k3s-host-2',
  packages: [
    'systemd',
    'systemd-sysv',
    'dbus',
    'openssh-server',
    'iproute2',
    'iptables',
    'ipset',
    'conntrack',
    'procps',
    'kmod',
    'curl',
    'ca-certificates',
    'openssl',
    'ethtool',
    'udev',
    'busybox-static',
  ],
}
