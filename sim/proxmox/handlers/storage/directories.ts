import type { Routes } from '../../call.ts'

/** Lists of what is below a path, by the word that each entry has for it. */
const BELOW: Readonly<Record<string, readonly [string, string]>> = {
  '/access/openid': ['subdir', 'auth-url login'],
  '/cluster/backup-info': ['subdir', 'not-backed-up'],
  '/cluster/qemu': ['name', 'cpu-flags custom-cpu-models'],
  '/cluster/sdn/vnets/{vnet}/firewall': ['name', 'rules options'],
  '/nodes/{node}/capabilities': ['name', 'qemu'],
  '/nodes/{node}/capabilities/qemu': ['name', 'cpu cpu-flags machines migration'],
  '/nodes/{node}/certificates/acme': ['name', 'certificate'],
  '/nodes/{node}/disks': ['name', 'list initgpt smart lvm lvmthin directory wipedisk zfs'],
  '/nodes/{node}/hardware/pci/{pci-id-or-mapping}': ['method', 'mdev'],
  '/nodes/{node}/replication/{id}': ['name', 'schedule_now log status'],
  '/nodes/{node}/scan': ['method', 'cifs iscsi lvm nfs pbs zfs'],
  '/nodes/{node}/sdn': ['name', 'zones fabrics vnets'],
  '/nodes/{node}/sdn/zones/{zone}': ['subdir', 'content bridges ip-vrf'],
  '/nodes/{node}/services/{service}': ['subdir', 'state start stop restart reload'],
}

export const directoryRoutes: Routes = Object.fromEntries(
  Object.entries(BELOW).map(([path, [word, names]]) => [
    `GET ${path}`,
    () => names.split(' ').map((name) => ({ [word]: name })),
  ]),
)
