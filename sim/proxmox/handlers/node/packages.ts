import type { Routes } from '../../call.ts'
import type { Thing } from '../shelf.ts'
import { KERNEL, VERSION } from './nodes.ts'

/** The packages that a report on a host names, in the order of its list, with the versions that are installed together. */
const INSTALLED: Readonly<Record<string, string>> = {
  'proxmox-ve': '9.2.0',
  'pve-manager': VERSION.version,
  [`proxmox-kernel-${KERNEL}-signed`]: KERNEL.replace('-pve', ''),
  'proxmox-kernel-6.17': KERNEL.replace('-pve', ''),
  'ceph-fuse': '19.2.3-pve2',
  corosync: '3.1.10-pve2',
  ifupdown2: '3.3.0-1+pmx12',
  'ksm-control-daemon': '1.5-1',
  'libjs-extjs': '7.0.0-5',
  'libproxmox-acme-perl': '1.7.1',
  'libproxmox-backup-qemu0': '2.0.2',
  'libproxmox-rs-perl': '0.4.4',
  'libpve-access-control': '9.1.1',
  'libpve-apiclient-perl': '3.4.2',
  'libpve-cluster-api-perl': '9.1.6',
  'libpve-cluster-perl': '9.1.6',
  'libpve-common-perl': '9.2.1',
  'libpve-guest-common-perl': '6.0.2',
  'libpve-http-server-perl': '6.0.5',
  'libpve-network-perl': '1.3.1',
  'libpve-notify-perl': '9.1.6',
  'libpve-rs-perl': '0.13.0',
  'libpve-storage-perl': '9.1.7',
  'libspice-server1': '0.15.2-1+b1',
  lvm2: '2.03.31-2+pmx1',
  'lxc-pve': '6.0.5-3',
  lxcfs: '6.0.4-pve1',
  'novnc-pve': '1.6.0-3',
  'proxmox-backup-client': '4.1.0-1',
  'proxmox-backup-file-restore': '4.1.0-1',
  'proxmox-backup-restore-image': '1.0.0',
  'proxmox-firewall': '1.2.1',
  'proxmox-kernel-helper': '9.0.4',
  'proxmox-mail-forward': '1.0.2',
  'proxmox-mini-journalreader': '1.6',
  'proxmox-widget-toolkit': '5.1.2',
  'pve-cluster': '9.1.6',
  'pve-container': '6.1.3',
  'pve-docs': '9.2.0',
  'pve-edk2-firmware': '4.2025.05-2',
  'pve-esxi-import-tools': '1.0.1',
  'pve-firewall': '6.0.4',
  'pve-firmware': '3.17-2',
  'pve-ha-manager': '5.1.0',
  'pve-i18n': '3.6.6',
  'pve-qemu-kvm': '10.0.13-1',
  'pve-xtermjs': '5.5.0-3',
  'qemu-server': '9.2.6',
  smartmontools: '7.4-pve1',
  spiceterm: '3.4.1',
  swtpm: '0.8.0+pve3',
  vncterm: '1.9.1',
  'zfsutils-linux': '2.3.4-pve1',
}

export const nodePackageRoutes: Routes = {
  'GET /nodes/{node}/apt/versions': () =>
    Object.entries(INSTALLED).map(([name, version]): Thing => {
      const more = name === 'pve-manager' ? { ManagerVersion: `${VERSION.version}/${VERSION.repoid}` } : {}
      return {
        Package: name,
        Title: name,
        Description: name,
        Origin: 'Proxmox',
        Section: 'admin',
        Arch: 'amd64',
        Priority: 'optional',
        Version: version,
        OldVersion: version,
        CurrentState: 'Installed',
        ...more,
        ...(name === 'proxmox-ve' ? { RunningKernel: KERNEL } : {}),
      }
    }),
}

/** Whether a host has such a package. */
export function isInstalled(name: string): boolean {
  return Object.hasOwn(INSTALLED, name) || /^(?:apt|bash|dpkg|openssh-server|systemd)$/.test(name)
}
