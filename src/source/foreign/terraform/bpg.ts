import { EXTERNAL_NAME } from '../../../kinds/fields/annotations.ts'
import type { Kind } from '../../../kinds/kind.ts'
import { KINDS } from '../../../kinds/registry.ts'
import { DEFINITIONS } from '../../../proxmox/registry.ts'
import { valueText } from '../../../proxmox/value-text.ts'
import { isFields } from '../../manifest.ts'
import type { Fields } from '../reading.ts'
import { isEmpty, isSecret, manifestFields, wordOf } from './attributes.ts'
import { oneVm } from './bpg-cloned-vm.ts'
import { OWN_SETTINGS, type OwnSetting } from './bpg-settings.ts'
import type { Carried, ResourceReader } from './resource.ts'

/** Resources that Crossplane's provider has as well: the same fields in its kinds. By their name without the prefix. */
const PROVIDER_KIND_OF: Readonly<Record<string, string>> = {
  acl: 'EnvironmentACL',
  acme_account: 'EnvironmentAcmeAccount',
  apt_repository: 'EnvironmentAptRepository',
  apt_standard_repository: 'EnvironmentAptStandardRepository',
  cluster_firewall: 'EnvironmentClusterFirewall',
  cluster_firewall_security_group: 'EnvironmentClusterFirewallSecurityGroup',
  container: 'EnvironmentContainer',
  dns: 'EnvironmentDNS',
  download_file: 'EnvironmentDownloadFile',
  file: 'EnvironmentFile',
  firewall_alias: 'EnvironmentFirewallAlias',
  firewall_ipset: 'EnvironmentFirewallIPSet',
  firewall_options: 'EnvironmentFirewallOptions',
  firewall_rules: 'EnvironmentFirewallRules',
  group: 'EnvironmentGroup',
  hagroup: 'EnvironmentHagroup',
  haresource: 'EnvironmentHaresource',
  hosts: 'EnvironmentHosts',
  metrics_server: 'EnvironmentMetricsServer',
  network_linux_bridge: 'EnvironmentNetworkLinuxBridge',
  network_linux_vlan: 'EnvironmentNetworkLinuxVlan',
  node_firewall: 'EnvironmentNodeFirewall',
  pool: 'EnvironmentPool',
  role: 'EnvironmentRole',
  time: 'EnvironmentTime',
  user: 'EnvironmentUser',
  vm: 'EnvironmentVM',
}

/** Computed attributes by resource. */
const COMPUTED_OF: Readonly<Record<string, RegExp>> = {
  vm: /^vm_id$/,
  container: /^vm_id$/,
  // The downloaded size; a disk's size is declared.
  download_file: /^size$/,
  acme_account: /^(?:created_at|location)$/,
  file: /^(?:file_(?:modification_date|name|size|tag)|upload_mode)$/,
  apt_repository: /^(?:comment|components|file_type|package_types|suites|uris)$/,
  apt_standard_repository: /^(?:description|file_path|index|name|status)$/,
  haresource: /^type$/,
  hosts: /^(?:addresses|entries|hostnames)$/,
  time: /^(?:local_time|utc_time)$/,
}

const NO_KIND = 'croft has no kind for it'
const BY_GUEST = 'croft import proxmox DIR --guest'
/** Resources without a manifest, with the reason and an alternative. */
const WITHOUT_KIND: Readonly<Record<string, string>> = {
  acme_certificate: 'Proxmox renews it by itself; declare the account, the plugin and acme of ProxmoxNodeOptions',
  ceph_pool: 'croft does not manage the pools of Ceph',
  file: 'the state does not hold the content of the file; declare an EnvironmentFile with it',
  hardware_mapping_dir: 'croft has no kind for mappings of directories',
  oci_image: 'croft does not fetch OCI images into storages',
  pool_membership: 'poolId of the machine says the same',
  realm_sync: 'it is one action and not a state',
  sdn_applier: 'croft applies pending changes of the SDN itself',
  sdn_controller_evpn: 'croft has no kind for SDN controllers',
  vm2: `its state does not say whether it runs; run ${BY_GUEST} with its id`,
}

/** Resources of the bpg provider, with the prefix of older releases and with that of newer ones. */
export const bpg: ResourceReader = {
  provider: /(?:^|\/)bpg\/proxmox["\]]*$/,
  read({ type, name, attributes, sensitive }) {
    const short = type.replace(/^proxmox_(?:virtual_environment_)?/, '')
    // The newer name of the experimental form; the one that people use keeps its long name.
    if (type === 'proxmox_vm') return { why: WITHOUT_KIND.vm2 ?? '' }
    if (short === 'cloned_vm')
      return inProviderForm(kindNamed('EnvironmentVM'), 'vm', name, oneVm(attributes), sensitive)
    const why = short === 'file' ? whyNoFile(attributes) : undefined
    if (why !== undefined) return { why }
    const setting = Object.hasOwn(OWN_SETTINGS, short) ? OWN_SETTINGS[short] : undefined
    if (setting !== undefined) return ownSetting(setting, name, attributes)
    if (Object.hasOwn(PROVIDER_KIND_OF, short))
      return inProviderForm(kindNamed(PROVIDER_KIND_OF[short] ?? ''), short, name, attributes, sensitive)
    if (short.startsWith('sdn_fabric')) return { why: 'croft has no kind for SDN fabrics' }
    return { why: Object.hasOwn(WITHOUT_KIND, short) ? (WITHOUT_KIND[short] ?? '') : NO_KIND }
  },
}

function kindNamed(name: string): Kind | undefined {
  return KINDS.find((one) => one.kind === name)
}

function inProviderForm(
  kind: Kind | undefined,
  short: string,
  name: (kind: string) => string,
  attributes: Fields,
  sensitive: readonly string[],
): Carried | { why: string } {
  if (kind === undefined) return { why: NO_KIND }
  const isGuest = short === 'vm' || short === 'container'
  const fields = manifestFields(adjusted(short, attributes), COMPUTED_OF[short])
  const own = name(kind.kind)
  const id = isGuest ? (wordOf(attributes.vm_id) ?? wordOf(attributes.id)) : undefined
  if (fields.name === own && isGuest) delete fields.name
  return {
    kind,
    manifest: {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: own, ...(id === undefined ? {} : { annotations: { [EXTERNAL_NAME]: id } }) },
      spec: { deletionPolicy: 'Orphan', forProvider: fields },
    },
    secrets: secretsIn(attributes, sensitive),
  }
}

/** Adjusts values that mean nothing to the provider but something here. */
function adjusted(short: string, attributes: Fields): Fields {
  // The first second of 1970 is never.
  if (short === 'user' && String(attributes.expiration_date).startsWith('1970-01-01T00:00:00'))
    return { ...attributes, expiration_date: null }
  if (short === 'container') return adjustedContainer(attributes)
  if (short === 'download_file' && attributes.file_name === fileNameIn(attributes.url))
    return { ...attributes, file_name: null }
  return attributes
}

/** Words before a secret in a first-boot text. */
const SECRET_TEXT = /passw|token|secret|private|api_?key|BEGIN [A-Z ]*KEY/i

/** A file of the computer that Terraform ran on is in no state, and a text may hold what no manifest should. */
function whyNoFile({ source_file: fetched, source_raw: written }: Fields): string | undefined {
  const [raw, file] = [written, fetched].map((list) => (Array.isArray(list) && isFields(list[0]) ? list[0] : undefined))
  if (SECRET_TEXT.test(wordOf(raw?.data) ?? ''))
    return 'its text looks as if it held a secret; declare an EnvironmentFile with a text that holds none'
  if (raw !== undefined || /^https?:/.test(wordOf(file?.path) ?? '')) return undefined
  return 'the state does not hold the content of the file; declare an EnvironmentFile with it'
}

function adjustedContainer(attributes: Fields): Fields {
  const { description, disk, mount_point: mounts } = attributes
  // The provider writes false for an unset `replicate`; Proxmox replicates by default.
  const volumes = (list: unknown) =>
    Array.isArray(list)
      ? list.map((one: unknown) => (isFields(one) && one.replicate === false ? { ...one, replicate: null } : one))
      : list
  return {
    ...attributes,
    disk: volumes(disk),
    mount_point: volumes(mounts),
    // Proxmox appends a line break to each description.
    ...(typeof description === 'string' ? { description: description.replace(/\n$/, '') } : {}),
  }
}

function fileNameIn(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined
}

function ownSetting(
  setting: OwnSetting,
  name: (kind: string) => string,
  attributes: Fields,
): Carried | { why: string } {
  const kind = kindNamed(setting.kind)
  const definition = DEFINITIONS.find((one) => one.kind === setting.kind)
  if (kind === undefined || definition === undefined) return { why: NO_KIND }
  const spec: Fields = { ...setting.constant }
  const without: string[] = []
  const secrets: string[] = []
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === setting.id || isEmpty(value)) continue
    if (isSecret(attribute) || setting.secrets?.includes(attribute)) {
      secrets.push(attribute)
      continue
    }
    if (setting.ignored?.includes(attribute)) continue
    const mapped = Object.hasOwn(setting.fields, attribute) ? setting.fields[attribute] : undefined
    if (mapped === undefined) without.push(`${attribute} has no field here`)
    else merge(spec, typeof mapped === 'string' ? { [mapped]: value } : mapped(value, attributes))
  }
  // The provider writes `shared` for all storages; Proxmox accepts it only for some types.
  for (const field of Object.keys(spec))
    if (definition.fields[field]?.types?.includes(valueText(spec.type)) === false) delete spec[field]
  const own = name(kind.kind)
  const id = setting.id === undefined ? undefined : wordOf(attributes[setting.id])
  return {
    kind,
    manifest: {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: own },
      spec: {
        ...(id === undefined || id === own ? {} : { id }),
        ...spec,
        ...(definition.remove === undefined ? {} : { deletionPolicy: 'Orphan' }),
      },
    },
    without,
    secrets,
  }
}

/** Two attributes may be two parts of one field. */
function merge(spec: Fields, more: Fields): void {
  for (const [name, value] of Object.entries(more)) {
    const before = spec[name]
    spec[name] = isFields(before) && isFields(value) ? { ...before, ...value } : value
  }
}

/** Secrets that the state holds. Only the names of their attributes are looked at. */
function secretsIn(attributes: Fields, sensitive: readonly string[]): readonly string[] {
  const names = new Set(sensitive)
  const walk = (value: unknown, path: string) => {
    if (Array.isArray(value)) for (const one of value) walk(one, path)
    else if (isFields(value))
      for (const [name, inner] of Object.entries(value))
        if (isSecret(name) && !isEmpty(inner)) names.add(`${path}${name}`)
        else walk(inner, `${path}${name}.`)
  }
  walk(attributes, '')
  return [...names].filter((name) => !isEmpty(attributes[name.split('.')[0] ?? '']))
}
