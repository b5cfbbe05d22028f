import type { HostTree } from '../real-ssh/host-root.ts'

/** A Debian as somebody would install it for K3s: what K3s asks of a system, and nothing of K3s. */
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
