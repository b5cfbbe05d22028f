import type { Fields } from '../reading.ts'

/** Converts an attribute: a field name, or a function of its value and the other attributes. */
type MappedAttribute = string | ((value: unknown, all: Fields) => Fields)

/** A resource of the bpg provider that has one of our own kinds, and none in Crossplane's form. */
export interface OwnSetting {
  readonly kind: string
  /** The attribute that holds the id in Proxmox. */
  readonly id?: string
  readonly fields: Readonly<Record<string, MappedAttribute>>
  readonly constant?: Fields
  /** Computed by the provider, or about Terraform alone. */
  readonly ignored?: readonly string[]
  /** Stays where it is, and is not declared. */
  readonly secrets?: readonly string[]
}

const same = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]))
const under = (field: string, part: string) => (value: unknown) => ({ [field]: { [part]: value } })
const rows = (field: string, parts: Readonly<Record<string, string>>) => (value: unknown) => ({
  [field]: (Array.isArray(value) ? value : [value]).map((row) => inOurNames(row as Fields, parts)),
})

function inOurNames(row: Fields, parts: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([theirs, ours]) =>
      row[theirs] === undefined || row[theirs] === null || row[theirs] === '' ? [] : [[ours, row[theirs]]],
    ),
  )
}

/** `{pve1 = 2, pve2 = null}` as `pve1:2`, `pve2`. */
const priorities = (value: unknown): Fields => ({
  hosts: Object.entries(value as Readonly<Record<string, number | null>>).map(([host, priority]) =>
    priority === null ? host : `${host}:${priority}`,
  ),
})

/** The certificate, then those of the authorities. */
const pemOf = (...parts: readonly unknown[]): string =>
  parts
    .filter((part) => typeof part === 'string' && part.trim() !== '')
    .map((part) => `${String(part).trim()}\n`)
    .join('')

const KEEP = {
  keep_last: 'keepLast',
  keep_hourly: 'keepHourly',
  keep_daily: 'keepDaily',
  keep_weekly: 'keepWeekly',
  keep_monthly: 'keepMonthly',
  keep_yearly: 'keepYearly',
} as const

/** Blocks of the provider: `keep_last`. Options of a job: `keep-last`, as texts. */
const kept = (value: unknown): Fields => {
  const given = (Array.isArray(value) ? value[0] : value) as Fields | undefined
  const retention: Fields = {}
  for (const [theirs, ours] of Object.entries(KEEP)) {
    const count = Number(given?.[theirs] ?? given?.[theirs.replace('_', '-')] ?? Number.NaN)
    if (count > 0) retention[ours] = count
  }
  if ([true, 'true', '1'].some((yes) => given?.keep_all === yes || given?.['keep-all'] === yes))
    return { retention: { keepAll: true } }
  return Object.keys(retention).length === 0 ? {} : { retention }
}
const backups = (value: unknown): Fields => {
  const most = ((Array.isArray(value) ? value[0] : value) as Fields | undefined)?.max_protected_backups
  return { ...kept(value), ...(typeof most === 'number' ? { maxProtectedBackups: most } : {}) }
}

const ZONE = { ...same('dns', 'ipam', 'mtu'), nodes: 'hosts', dns_zone: 'dnsZone', reverse_dns: 'reverseDns' }
const zone = (type: string, fields: OwnSetting['fields']): OwnSetting => ({
  kind: 'ProxmoxSdnZone',
  id: 'id',
  constant: { type },
  fields: { ...ZONE, ...fields },
  ignored: ['pending', 'state', 'digest'],
})

const STORE = { ...same('content', 'shared'), nodes: 'hosts', disable: 'disabled' }
const FOLDER = {
  preallocation: 'preallocation',
  create_base_path: 'createBasePath',
  create_subdirs: 'createSubdirs',
  snapshot_as_volume_chain: 'snapshotAsVolumeChain',
  backups,
}
const storage = (type: string, fields: OwnSetting['fields'], ignored: readonly string[] = []): OwnSetting => ({
  kind: 'ProxmoxStorage',
  id: 'id',
  constant: { type },
  fields: { ...STORE, ...fields },
  secrets: ['password', 'encryption_key'],
  ignored,
})

const CARD = same('address', 'address6', 'autostart', 'comment', 'gateway', 'gateway6', 'mtu')

/** By the name of the resource without its old or new prefix. */
export const OWN_SETTINGS: Readonly<Record<string, OwnSetting>> = {
  acme_dns_plugin: {
    kind: 'ProxmoxAcmePlugin',
    id: 'plugin',
    fields: { api: 'api', disable: 'disabled', validation_delay: 'validationDelay' },
    ignored: ['id', 'digest'],
    secrets: ['data'],
  },
  certificate: {
    kind: 'ProxmoxCertificate',
    fields: {
      node_name: 'host',
      certificate: (value, { certificate_chain: chain }) => ({ certificate: pemOf(value, chain) }),
    },
    ignored:
      'id certificate_chain overwrite expiration_date file_name issuer public_key_size public_key_type ssl_fingerprint start_date subject subject_alternative_names'.split(
        ' ',
      ),
    secrets: ['private_key'],
  },
  node_disk_zfs: {
    kind: 'ProxmoxZfsPool',
    id: 'name',
    fields: {
      ...same('ashift', 'compression', 'devices'),
      node_name: 'host',
      raidlevel: 'raid',
      add_storage: 'addStorage',
    },
    ignored: ['id', 'cleanup_config', 'cleanup_disks', 'errors', 'state'],
  },
  user_token: {
    kind: 'ProxmoxToken',
    id: 'token_name',
    fields: {
      comment: 'comment',
      user_id: 'user',
      expiration_date: 'expires',
      privileges_separation: 'privilegeSeparation',
    },
    ignored: ['id', 'value'],
  },
  backup_job: {
    kind: 'ProxmoxBackupJob',
    id: 'id',
    fields: {
      ...same(
        'all',
        'compress',
        'enabled',
        'ionice',
        'mode',
        'pigz',
        'pool',
        'protected',
        'schedule',
        'storage',
        'zstd',
      ),
      bwlimit: 'bandwidthKiB',
      exclude_path: 'excludePath',
      fleecing: 'fleecing',
      lockwait: 'lockWait',
      mailnotification: 'mailNotification',
      mailto: 'mailTo',
      node: 'host',
      notes_template: 'notesTemplate',
      pbs_change_detection_mode: 'pbsChangeDetectionMode',
      performance: (value) => ({
        performance: inOurNames(value as Fields, { max_workers: 'maxWorkers', pbs_entries_max: 'pbsEntriesMax' }),
      }),
      prune_backups: kept,
      repeat_missed: 'repeatMissed',
      stopwait: 'stopWait',
      vmid: 'guests',
    },
  },
  cluster_options: {
    kind: 'ProxmoxClusterOptions',
    fields: {
      ...same('console', 'description', 'keyboard', 'language'),
      bandwidth_limit_clone: under('bandwidth', 'clone'),
      bandwidth_limit_default: under('bandwidth', 'default'),
      bandwidth_limit_migration: under('bandwidth', 'migration'),
      bandwidth_limit_move: under('bandwidth', 'move'),
      bandwidth_limit_restore: under('bandwidth', 'restore'),
      crs_ha: under('crs', 'ha'),
      crs_ha_rebalance_on_start: under('crs', 'haRebalanceOnStart'),
      email_from: 'emailFrom',
      ha_shutdown_policy: under('ha', 'shutdownPolicy'),
      http_proxy: 'httpProxy',
      mac_prefix: 'macPrefix',
      max_workers: 'maxWorkers',
      migration_cidr: under('migration', 'network'),
      migration_type: under('migration', 'type'),
      next_id: (value) => ({ nextId: value }),
      notify: (value) => ({
        notify: inOurNames(value as Fields, {
          package_updates: 'packageUpdates',
          ha_fencing_mode: 'fencing',
          replication: 'replication',
        }),
      }),
    },
    ignored: ['id'],
  },
  hardware_mapping_pci: {
    kind: 'ProxmoxPciMapping',
    id: 'name',
    fields: {
      comment: 'description',
      map: rows('devices', {
        node: 'host',
        path: 'path',
        id: 'id',
        subsystem_id: 'subsystemId',
        iommu_group: 'iommuGroup',
      }),
      mediated_devices: 'mdev',
    },
    ignored: ['id'],
  },
  hardware_mapping_usb: {
    kind: 'ProxmoxUsbMapping',
    id: 'name',
    fields: { comment: 'description', map: rows('devices', { node: 'host', id: 'id', path: 'path' }) },
    ignored: ['id'],
  },
  harule: {
    kind: 'ProxmoxHaRule',
    id: 'rule',
    fields: { ...same('affinity', 'comment', 'resources', 'strict', 'type'), disable: 'disabled', nodes: priorities },
    ignored: ['id'],
  },
  network_linux_bond: {
    kind: 'ProxmoxBond',
    id: 'name',
    fields: {
      ...CARD,
      node_name: 'host',
      slaves: 'interfaces',
      bond_mode: 'mode',
      bond_primary: 'primary',
      bond_xmit_hash_policy: 'hashPolicy',
    },
    ignored: ['id', 'timeout_reload'],
  },
  node_config: {
    kind: 'ProxmoxNodeOptions',
    fields: { node_name: 'host', description: 'description' },
    ignored: ['id'],
  },
  realm_ldap: {
    kind: 'ProxmoxRealm',
    id: 'realm',
    constant: { type: 'ldap' },
    fields: {
      ...same('comment', 'default', 'filter', 'mode', 'port', 'secure', 'server1', 'server2', 'verify'),
      base_dn: 'baseDn',
      bind_dn: 'bindDn',
      ca_path: 'capath',
      case_sensitive: 'caseSensitive',
      group_classes: (value) => ({ groupClasses: String(value).split(/[\s,;]+/) }),
      group_dn: 'groupDn',
      group_filter: 'groupFilter',
      group_name_attr: 'groupNameAttr',
      ssl_version: 'sslversion',
      sync_attributes: 'syncAttributes',
      user_attr: 'userAttr',
      user_classes: (value) => ({ userClasses: String(value).split(/[\s,;]+/) }),
    },
    ignored: ['id'],
    secrets: ['bind_password'],
  },
  realm_openid: {
    kind: 'ProxmoxRealm',
    id: 'realm',
    constant: { type: 'openid' },
    fields: {
      ...same('audiences', 'autocreate', 'comment', 'default', 'prompt', 'scopes'),
      acr_values: 'acrValues',
      client_id: 'clientId',
      groups_autocreate: 'groupsAutocreate',
      groups_claim: 'groupsClaim',
      groups_overwrite: 'groupsOverwrite',
      issuer_url: 'issuerUrl',
      query_userinfo: 'queryUserinfo',
      username_claim: 'usernameClaim',
    },
    ignored: ['id'],
    secrets: ['client_key'],
  },
  replication: {
    kind: 'ProxmoxReplication',
    id: 'id',
    fields: { ...same('comment', 'rate', 'schedule', 'target'), disable: 'disabled' },
    ignored: ['guest', 'jobnum', 'source', 'type'],
  },
  sdn_zone_simple: zone('simple', { dhcp: 'dhcp' }),
  sdn_zone_vlan: zone('vlan', { bridge: 'bridge' }),
  sdn_zone_qinq: zone('qinq', { bridge: 'bridge', service_vlan: 'tag', service_vlan_protocol: 'vlanProtocol' }),
  sdn_zone_vxlan: zone('vxlan', { peers: 'peers' }),
  sdn_zone_evpn: zone('evpn', {
    advertise_subnets: 'advertiseSubnets',
    controller: 'controller',
    disable_arp_nd_suppression: 'disableArpNdSuppression',
    exit_nodes: 'exitNodes',
    exit_nodes_local_routing: 'exitnodesLocalRouting',
    primary_exit_node: 'exitnodesPrimary',
    rt_import: (value) => ({ rtImport: String(value).split(/[\s,]+/) }),
    vrf_vxlan: 'vrfVxlan',
  }),
  sdn_vnet: {
    kind: 'ProxmoxSdnVnet',
    id: 'id',
    fields: { ...same('alias', 'tag', 'zone'), isolate_ports: 'isolatePorts', vlan_aware: 'vlanAware' },
  },
  sdn_subnet: {
    kind: 'ProxmoxSdnSubnet',
    id: 'cidr',
    fields: {
      ...same('gateway', 'snat', 'vnet'),
      dhcp_dns_server: 'dhcpDnsServer',
      dhcp_range: rows('dhcpRanges', { start_address: 'startAddress', end_address: 'endAddress' }),
      dns_zone_prefix: 'dnsZonePrefix',
    },
    ignored: ['id'],
  },
  storage_cifs: storage('cifs', {
    ...FOLDER,
    ...same('domain', 'options', 'server', 'share', 'username'),
    subdirectory: 'subdir',
  }),
  storage_directory: storage('dir', { ...FOLDER, path: 'path' }),
  storage_lvm: storage('lvm', { volume_group: 'vgName', wipe_removed_volumes: 'saferemove' }),
  storage_lvmthin: storage('lvmthin', { volume_group: 'vgName', thin_pool: 'thinPool' }),
  storage_nfs: storage('nfs', { ...FOLDER, ...same('export', 'options', 'server') }),
  storage_pbs: storage('pbs', { ...same('datastore', 'fingerprint', 'namespace', 'server', 'username'), backups }, [
    'encryption_key_fingerprint',
    'generate_encryption_key',
    'generated_encryption_key',
  ]),
  storage_zfspool: storage('zfspool', { blocksize: 'blocksize', thin_provision: 'sparse', zfs_pool: 'pool' }),
}
