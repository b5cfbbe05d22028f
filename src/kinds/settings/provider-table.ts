/**
 * The mapping of a provider's field to ours. A plain text is the name of our field, with its schema. `secret`: a
 * reference to a Kubernetes secret. `block`: a block with other names inside. `unkept`: checked for its type and
 * ignored, with a warning that says why.
 */
export type MappedField =
  | string
  | { readonly secret: string }
  | { readonly block: string; readonly parts: Readonly<Record<string, string>>; readonly many: boolean }
  | { readonly words: string }
  | { readonly priorities: string }
  | { readonly acl: 'user' | 'group' }
  | { readonly unkept: 'text' | 'number' | 'flag'; readonly why: string }

/** One managed kind of provider-proxmox-bpg, as data. */
export interface ProviderKind {
  readonly kind: string
  /** First part of its API group. */
  readonly group: string
  readonly definition: string
  /** The field with the id, and its default. */
  readonly id?: string
  readonly defaultId?: string
  readonly host?: string
  /** vmId and containerId say which guest it is about. */
  readonly guest?: true
  readonly required: readonly string[]
  readonly fields: Readonly<Record<string, MappedField>>
  /** The provider's defaults. */
  readonly defaults?: Readonly<Record<string, string | number | boolean>>
}

const same = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]))

const RULE: MappedField = {
  block: 'rules',
  many: true,
  parts: {
    ...same('action', 'comment', 'enabled', 'log', 'macro', 'source', 'type'),
    dest: 'destination',
    dport: 'destinationPort',
    iface: 'interface',
    proto: 'protocol',
    securityGroup: 'group',
    sport: 'sourcePort',
  },
}
const RELOAD: MappedField = { unkept: 'number', why: 'croft waits for the task itself' }
const WRITE_ONLY: MappedField = {
  unkept: 'number',
  why: 'croft sends a secret when the thing is made, and again when the annotation croft.dev/rotate changes',
}

const ADDRESSES = same('address', 'address6', 'autostart', 'comment', 'gateway', 'gateway6', 'mtu')

export const PROVIDER_KINDS: readonly ProviderKind[] = [
  {
    kind: 'EnvironmentACL',
    group: 'virtualenvironmentacl',
    definition: 'acl',
    required: ['path', 'roleId'],
    fields: { ...same('path', 'propagate'), roleId: 'role', userId: 'user', groupId: 'group', tokenId: 'token' },
  },
  {
    kind: 'EnvironmentAcmeAccount',
    group: 'virtualenvironmentacmeaccount',
    definition: 'acme-account',
    id: 'name',
    defaultId: 'default',
    required: ['contact'],
    fields: {
      ...same('contact', 'directory'),
      tos: 'termsOfService',
      eabKidSecretRef: { secret: 'eabKid' },
      eabHmacKeySecretRef: { secret: 'eabHmacKey' },
    },
  },
  {
    kind: 'EnvironmentAcmeDNSPlugin',
    group: 'virtualenvironmentacmednsplugin',
    definition: 'acme-plugin',
    id: 'plugin',
    required: ['api', 'plugin'],
    fields: {
      ...same('api', 'data', 'validationDelay'),
      dataWo: 'data',
      dataWoVersion: WRITE_ONLY,
      digest: { unkept: 'text', why: 'croft reads the digest itself before it writes' },
      disable: 'disabled',
    },
  },
  {
    kind: 'EnvironmentAptRepository',
    group: 'virtualenvironmentaptrepository',
    definition: 'apt-repository',
    host: 'node',
    required: ['filePath', 'index', 'node'],
    fields: { ...same('index', 'enabled'), filePath: 'file' },
    defaults: { enabled: true },
  },
  {
    kind: 'EnvironmentAptStandardRepository',
    group: 'virtualenvironmentaptstandardrepository',
    definition: 'apt-standard-repository',
    id: 'handle',
    host: 'node',
    required: ['handle', 'node'],
    fields: {},
  },
  {
    kind: 'EnvironmentCertificate',
    group: 'virtualenvironment',
    definition: 'certificate',
    host: 'nodeName',
    required: ['certificate', 'nodeName', 'privateKeySecretRef'],
    fields: {
      certificate: 'certificate',
      certificateChain: 'certificate',
      overwrite: { unkept: 'flag', why: 'a certificate that differs from the declared one is replaced' },
      privateKeySecretRef: { secret: 'privateKey' },
    },
  },
  {
    kind: 'EnvironmentClusterFirewall',
    group: 'virtual',
    definition: 'cluster-firewall',
    required: [],
    fields: {
      ...same('ebtables', 'enabled', 'forwardPolicy', 'inputPolicy', 'outputPolicy'),
      logRatelimit: { block: 'logRateLimit', many: false, parts: same('burst', 'enabled', 'rate') },
    },
  },
  {
    kind: 'EnvironmentClusterFirewallSecurityGroup',
    group: 'virtualenvironmentclusterfirewallsecuritygroup',
    definition: 'firewall-group',
    id: 'name',
    required: ['name'],
    fields: {
      comment: 'comment',
      rule: RULE,
      nodeName: { unkept: 'text', why: 'security groups belong to the cluster' },
      vmId: { unkept: 'number', why: 'security groups belong to the cluster' },
      containerId: { unkept: 'number', why: 'security groups belong to the cluster' },
    },
  },
  {
    kind: 'EnvironmentDNS',
    group: 'virtualenvironmentdns',
    definition: 'dns',
    host: 'nodeName',
    required: ['domain', 'nodeName'],
    fields: same('domain', 'servers'),
  },
  {
    kind: 'EnvironmentFirewallAlias',
    group: 'virtualenvironmentfirewallalias',
    definition: 'firewall-alias',
    id: 'name',
    host: 'nodeName',
    guest: true,
    required: ['cidr', 'name'],
    fields: same('cidr', 'comment'),
  },
  {
    kind: 'EnvironmentFirewallIPSet',
    group: 'virtualenvironmentfirewallipset',
    definition: 'firewall-ipset',
    id: 'name',
    host: 'nodeName',
    guest: true,
    required: ['name'],
    fields: {
      comment: 'comment',
      cidr: { block: 'entries', many: true, parts: { name: 'cidr', comment: 'comment', nomatch: 'exclude' } },
    },
  },
  {
    kind: 'EnvironmentFirewallOptions',
    group: 'virtualenvironmentfirewalloptions',
    definition: 'guest-firewall',
    host: 'nodeName',
    guest: true,
    required: ['nodeName'],
    fields: {
      ...same('dhcp', 'enabled', 'inputPolicy', 'outputPolicy', 'logLevelIn', 'logLevelOut', 'ndp'),
      ipfilter: 'ipFilter',
      macfilter: 'macFilter',
      radv: 'routerAdvertisement',
    },
  },
  {
    kind: 'EnvironmentFirewallRules',
    group: 'virtualenvironmentfirewallrules',
    definition: 'firewall-rules',
    host: 'nodeName',
    guest: true,
    required: [],
    fields: { rule: RULE },
  },
  {
    kind: 'EnvironmentGroup',
    group: 'virtualenvironmentgroup',
    definition: 'group',
    id: 'groupId',
    required: ['groupId'],
    fields: { comment: 'comment', acl: { acl: 'group' } },
  },
  {
    kind: 'EnvironmentHagroup',
    group: 'virtualenvironmenthagroup',
    definition: 'ha-group',
    id: 'group',
    required: ['group', 'nodes'],
    fields: { ...same('comment', 'noFailback', 'restricted'), nodes: { priorities: 'hosts' } },
  },
  {
    kind: 'EnvironmentHaresource',
    group: 'virtualenvironmentharesource',
    definition: 'ha-resource',
    id: 'resourceId',
    required: ['resourceId'],
    fields: {
      ...same('comment', 'failback', 'group', 'maxRelocate', 'maxRestart', 'state'),
      type: { unkept: 'text', why: 'the id says it: vm:108' },
    },
  },
  {
    kind: 'EnvironmentHosts',
    group: 'virtualenvironmenthosts',
    definition: 'hosts',
    host: 'nodeName',
    required: ['entry', 'nodeName'],
    fields: { entry: { block: 'entries', many: true, parts: same('address', 'hostnames') } },
  },
  {
    kind: 'EnvironmentMetricsServer',
    group: 'virtualenvironmentmetricsserver',
    definition: 'metric-server',
    id: 'name',
    required: ['name', 'port', 'server', 'type'],
    fields: {
      ...same('mtu', 'port', 'server', 'timeout', 'type'),
      disable: 'disabled',
      graphitePath: 'path',
      graphiteProto: 'proto',
      influxApiPathPrefix: 'apiPathPrefix',
      influxBucket: 'bucket',
      influxDbProto: 'influxProto',
      influxMaxBodySize: 'maxBodySize',
      influxOrganization: 'organization',
      influxTokenSecretRef: { secret: 'token' },
      influxTokenWoSecretRef: { secret: 'token' },
      influxTokenWoVersion: WRITE_ONLY,
      influxVerify: 'verifyCertificate',
      opentelemetryCompression: 'otelCompression',
      opentelemetryHeadersSecretRef: { secret: 'otelHeaders' },
      opentelemetryMaxBodySize: 'otelMaxBodySize',
      opentelemetryPath: 'otelPath',
      opentelemetryProto: 'otelProtocol',
      opentelemetryResourceAttributes: 'otelResourceAttributes',
      opentelemetryTimeout: 'otelTimeout',
      opentelemetryVerifySsl: 'otelVerifySsl',
    },
  },
  {
    kind: 'EnvironmentNetworkLinuxBridge',
    group: 'virtualenvironmentnetworklinuxbridge',
    definition: 'bridge',
    id: 'name',
    host: 'nodeName',
    required: ['name', 'nodeName'],
    fields: { ...ADDRESSES, ...same('ports', 'vlanAware'), vids: { words: 'vids' }, timeoutReload: RELOAD },
    defaults: { autostart: true },
  },
  {
    kind: 'EnvironmentNetworkLinuxVlan',
    group: 'virtualenvironmentnetworklinuxvlan',
    definition: 'vlan',
    id: 'name',
    host: 'nodeName',
    required: ['name', 'nodeName'],
    fields: { ...ADDRESSES, interface: 'device', vlan: 'tag', timeoutReload: RELOAD },
    defaults: { autostart: true },
  },
  {
    kind: 'EnvironmentNodeFirewall',
    group: 'virtualenvironmentnodefirewall',
    definition: 'node-firewall',
    host: 'nodeName',
    required: ['nodeName'],
    fields: same(
      'enabled',
      'logLevelForward',
      'logLevelIn',
      'logLevelOut',
      'ndp',
      'nfConntrackMax',
      'nfConntrackTcpTimeoutEstablished',
      'nftables',
      'nosmurfs',
      'smurfLogLevel',
      'tcpFlagsLogLevel',
    ),
  },
  {
    kind: 'EnvironmentPool',
    group: 'virtualenvironmentpool',
    definition: 'pool',
    id: 'poolId',
    required: ['poolId'],
    fields: same('comment'),
  },
  {
    kind: 'EnvironmentRole',
    group: 'virtualenvironmentrole',
    definition: 'role',
    id: 'roleId',
    required: ['privileges', 'roleId'],
    fields: same('privileges'),
  },
  {
    kind: 'EnvironmentTime',
    group: 'virtualenvironmenttime',
    definition: 'time',
    host: 'nodeName',
    required: ['nodeName', 'timeZone'],
    fields: same('timeZone'),
  },
  {
    kind: 'EnvironmentUser',
    group: 'virtualenvironmentuser',
    definition: 'user',
    id: 'userId',
    required: ['userId'],
    fields: {
      ...same('comment', 'email', 'enabled', 'firstName', 'groups', 'keys', 'lastName'),
      expirationDate: 'expires',
      passwordSecretRef: { secret: 'password' },
      acl: { acl: 'user' },
    },
  },
]
