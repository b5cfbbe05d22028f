import { defined } from '../../../lib/defined.ts'
import type { RestCall } from '../../../model/step.ts'
import { decoded } from '../foreign.ts'
import { type PrivilegeSet, way } from './need.ts'

/** A call's checks before its parameters: all of these, each in any of its ways. */
interface CallRule {
  /** Matches `METHOD /path`; named groups fill in the paths below. */
  readonly call: RegExp
  /** `root`: only root@pam, never a token. */
  readonly needs: readonly (readonly string[])[] | 'root'
}

const READ = 'GET '
const WRITE = '(?:POST|PUT|DELETE) '
const GUEST = String.raw`/nodes/[^/]+/(?:qemu|lxc)/(?<vmid>\d+)`
const VM = String.raw`/nodes/[^/]+/qemu/(?<vmid>\d+)`
const CONTAINER = String.raw`/nodes/[^/]+/lxc/(?<vmid>\d+)`
const NODE = '/nodes/(?<node>[^/]+)'
const STORE = '/nodes/(?<node>[^/]+)/storage/(?<storage>[^/]+)'

function on(call: string, ...needs: readonly (string | readonly string[])[]): CallRule {
  return {
    call: new RegExp(`^${call}$`),
    needs: needs.map((need) => (typeof need === 'string' ? [need] : need)),
  }
}

const CONFIG = ['Disk', 'CDROM', 'CPU', 'Memory', 'Network', 'HWType', 'Options', 'Cloudinit']
const CONTAINER_CONFIG = ['Disk', 'CPU', 'Memory', 'Network', 'Options']

/**
 * The first match counts. Further checks in the code of an operation (options, disks and network cards of a guest) are
 * in option-privileges.ts. A test compares this with the API's own table.
 */
export const CALL_RULES: readonly CallRule[] = [
  // Guests.
  on(`POST ${NODE}/(?:qemu|lxc)`),
  on(`DELETE ${GUEST}`, '/vms/{vmid} VM.Allocate'),
  on(`POST ${GUEST}/template`, '/vms/{vmid} VM.Allocate'),
  on(`POST ${GUEST}/clone`, '/vms/{vmid} VM.Clone', ['/pool/{pool} VM.Allocate', '/vms/{newid} VM.Allocate']),
  on(`POST ${GUEST}/migrate`, '/vms/{vmid} VM.Migrate'),
  on(`POST ${GUEST}/status/\\w+`, '/vms/{vmid} VM.PowerMgmt'),
  on(`PUT ${GUEST}/resize`, '/vms/{vmid} VM.Config.Disk'),
  on(
    `POST ${GUEST}/(?:move_disk|move_volume)`,
    '/vms/{vmid} VM.Config.Disk',
    '/storage/{storage} Datastore.AllocateSpace',
  ),
  on(`PUT ${GUEST}/unlink`, '/vms/{vmid} VM.Config.Disk'),
  on(`PUT ${GUEST}/cloudinit`, '/vms/{vmid} VM.Config.Cloudinit'),
  on(`POST ${GUEST}/snapshot/[^/]+/rollback`, ['/vms/{vmid} VM.Snapshot.Rollback', '/vms/{vmid} VM.Snapshot']),
  on(`${WRITE}${GUEST}/snapshot(?:/.*)?`, '/vms/{vmid} VM.Snapshot'),
  on(`${WRITE}${GUEST}/firewall/.*`, '/vms/{vmid} VM.Config.Network'),
  on(
    `(?:PUT|POST) ${VM}/config`,
    CONFIG.map((group) => `/vms/{vmid} VM.Config.${group}`),
  ),
  on(
    `PUT ${CONTAINER}/config`,
    CONTAINER_CONFIG.map((group) => `/vms/{vmid} VM.Config.${group}`),
  ),
  on(`${READ}${GUEST}/agent/network-get-interfaces`, [
    '/vms/{vmid} VM.GuestAgent.Audit',
    '/vms/{vmid} VM.GuestAgent.Unrestricted',
  ]),
  on(`POST ${GUEST}/agent/ping`, ['/vms/{vmid} VM.GuestAgent.Audit', '/vms/{vmid} VM.GuestAgent.Unrestricted']),
  on(`${READ}${GUEST}/agent/file-read`, [
    '/vms/{vmid} VM.GuestAgent.FileRead',
    '/vms/{vmid} VM.GuestAgent.Unrestricted',
  ]),
  on(`POST ${GUEST}/agent/file-write`, [
    '/vms/{vmid} VM.GuestAgent.FileWrite',
    '/vms/{vmid} VM.GuestAgent.Unrestricted',
  ]),
  on(`(?:GET|POST) ${GUEST}/agent/exec(?:-status)?`, '/vms/{vmid} VM.GuestAgent.Unrestricted'),
  on(`${READ}${GUEST}/(?:config|pending|status/current|interfaces|snapshot)`, '/vms/{vmid} VM.Audit'),
  on(`${READ}${GUEST}/firewall/(?!log$).*`, '/vms/{vmid} VM.Audit'),
  // Files and storages.
  on(`POST ${STORE}/download-url`, '/storage/{storage} Datastore.AllocateTemplate', [
    '/nodes/{node} Sys.AccessNetwork',
    '/ Sys.Audit+Sys.Modify',
  ]),
  on(`POST ${STORE}/upload`, '/storage/{storage} Datastore.AllocateTemplate'),
  on(`POST ${STORE}/content`, '/storage/{storage} Datastore.AllocateSpace'),
  // Its code requires this for all content: only backups need less.
  on(`DELETE ${STORE}/content/.*`, '/storage/{storage} Datastore.Allocate'),
  on(`${READ}${STORE}/(?:content|status)`, [
    '/storage/{storage} Datastore.Audit',
    '/storage/{storage} Datastore.AllocateSpace',
  ]),
  on(`${WRITE}/storage(?:/[^/]+)?`, '/storage Datastore.Allocate'),
  on(`${READ}/storage/(?<storage>[^/]+)`, '/storage/{storage} Datastore.Allocate'),
  on(`${WRITE}/pools/(?<poolid>[^/]+)`, '/pool/{poolid} Pool.Allocate'),
  on(`${WRITE}/pools`, '/pool/{poolid} Pool.Allocate'),
  on(`${READ}/pools/(?<poolid>[^/]+)`, '/pool/{poolid} Pool.Audit'),
  // Hosts.
  on(`${WRITE}${NODE}/disks/(?:directory|lvm|lvmthin|zfs|initgpt)(?:/[^/]+)?`, '/ Sys.Modify'),
  on(`${READ}${NODE}/disks/(?:directory|lvm|lvmthin|zfs)`, '/ Sys.Audit'),
  on(`PUT ${NODE}/config`, '/ Sys.Modify'),
  on(`${READ}${NODE}/(?:config|hosts)`, '/ Sys.Audit'),
  on(
    `${WRITE}${NODE}/(?:network|dns|hosts|time|subscription|apt/\\w+|firewall/\\w+|certificates/.*)(?:/[^/]+)?`,
    '/nodes/{node} Sys.Modify',
  ),
  on(
    `${READ}${NODE}/(?:network/[^/]+|dns|time|status|apt/repositories|firewall/(?:options|rules)(?:/[^/]+)?)`,
    '/nodes/{node} Sys.Audit',
  ),
  on(`(?:POST) ${NODE}/(?:status|wakeonlan)`, '/nodes/{node} Sys.PowerMgmt'),
  // The datacentre.
  { call: /^(?:GET|POST|PUT|DELETE) \/cluster\/acme\/account(?:\/.+)$|^POST \/cluster\/acme\/account$/, needs: 'root' },
  on(`(?:GET|POST|PUT|DELETE) /cluster/acme/plugins(?:/[^/]+)?`, '/ Sys.Modify'),
  // In its code: a job deletes old backups, so it needs the right to delete anything on its storage.
  on(
    `(?:POST|PUT) /cluster/backup(?:/[^/]+)?`,
    '/ Sys.Modify',
    '/storage/{storage} Datastore.Allocate',
    '/storage/{fleecingStorage?} Datastore.AllocateSpace',
    '/pool/{pool?} VM.Backup',
  ),
  on(`${WRITE}/cluster/(?:backup|firewall|metrics/server)(?:/.*)?`, '/ Sys.Modify'),
  on(`PUT /cluster/options`, '/ Sys.Modify'),
  on(`${READ}/cluster/(?:backup|metrics/server|ha/(?:groups|resources|rules))(?:/[^/]+)?`, '/ Sys.Audit'),
  on(`${READ}/cluster/firewall/(?:aliases|groups/[^/]+|ipset|options|rules)(?:/.*)?`, '/ Sys.Audit'),
  on(`${WRITE}/cluster/ha/.*`, '/ Sys.Console'),
  on(`(?:POST|DELETE) /cluster/mapping/(?<type>\\w+)(?:/[^/]+)?`, '/mapping/{type} Mapping.Modify'),
  on(`PUT /cluster/mapping/(?<type>\\w+)/(?<id>[^/]+)`, '/mapping/{type}/{id} Mapping.Modify'),
  on(`${READ}/cluster/mapping/(?<type>\\w+)/(?<id>[^/]+)`, [
    '/mapping/{type}/{id} Mapping.Audit',
    '/mapping/{type}/{id} Mapping.Use',
    '/mapping/{type}/{id} Mapping.Modify',
  ]),
  on(`PUT /cluster/sdn`, '/sdn SDN.Allocate'),
  on(`POST /cluster/sdn/zones`, '/sdn/zones SDN.Allocate'),
  on(`(?:GET|PUT|DELETE) /cluster/sdn/zones/(?<zone>[^/]+)`, '/sdn/zones/{zone} SDN.Allocate'),
  on(`POST /cluster/sdn/vnets`, '/sdn/zones/{zone} SDN.Allocate'),
  // In their code, on the network's zone, which the call does not name.
  on('(?:PUT|DELETE) /cluster/sdn/vnets/[^/]+', '/sdn SDN.Allocate'),
  on(`${WRITE}/cluster/sdn/vnets/[^/]+/subnets(?:/[^/]*)?`, '/sdn SDN.Allocate'),
  // In its code; a job is named after its guest: 100-0.
  on(`${WRITE}/cluster/replication(?:/(?<guest>\\d+)-\\d+)?`, '/vms/{guest} VM.Replicate'),
  // Users and rights.
  on(`${READ}/access/domains/[^/]+`, ['/access/realm Sys.Audit', '/access/realm Realm.Allocate']),
  on(`${WRITE}/access/roles(?:/[^/]+)?`, '/access Sys.Modify'),
  on(`${WRITE}/access/groups(?:/[^/]+)?`, '/access/groups Group.Allocate'),
  on(`${WRITE}/access/domains(?:/[^/]+)?`, '/access/realm Realm.Allocate'),
  on(`(?:POST|PUT|DELETE) /access/users/[^/]+/token/[^/]+`, '/access/groups User.Modify'),
  on(`PUT /access/users/[^/]+`, '/access/groups User.Modify'),
  on(`POST /access/users`, '/access/realm/{realm} Realm.AllocateUser', '/access/groups User.Modify'),
  on(
    `DELETE /access/users/[^/@]+@(?<realm>[^/@]+)`,
    '/access/realm/{realm} Realm.AllocateUser',
    '/access/groups User.Modify',
  ),
  on(`${READ}/access/users/[^/]+/token(?:/[^/]+)?`, '/access/groups User.Modify'),
  on(`PUT /access/acl`, '{path} Permissions.Modify'),
  // Open to every login; it shows only what other rights allow.
  on(
    `${READ}/cluster/(?:resources|tasks|nextid|options|replication|mapping/\\w+|acme/account|sdn/vnets/[^/]+/subnets|sdn/(?:zones|vnets|controllers|ipams|dns)|firewall/groups)`,
  ),
  on(`${READ}/(?:version|storage|pools|access/(?:users|groups|roles|domains|acl|permissions))`),
  on(`${READ}${NODE}/(?:network|storage|certificates/info|tasks/[^/]+/status)`),
]

/** Returns the API's checks before an operation's own code. Undefined: the table lacks the call. */
export function needsOfCall(call: RestCall): readonly (readonly PrivilegeSet[])[] | 'root' | undefined {
  const text = `${call.method} ${decoded(call.path)}`
  for (const rule of CALL_RULES) {
    const match = rule.call.exec(text)
    if (match === null) continue
    if (rule.needs === 'root') return 'root'
    const values: Readonly<Record<string, string | undefined>> = { ...paramsOf(call.params), ...match.groups }
    // A need with a question mark applies only if the call has that parameter.
    const asked = rule.needs.filter((ways) => ways.every((one) => isSaid(one, values)))
    return asked.map((ways) =>
      ways.map((one) => way(filled(one, values))).filter(({ path }) => !path.endsWith('/') || path === '/'),
    )
  }
  return undefined
}

function isSaid(text: string, values: Readonly<Record<string, string | undefined>>): boolean {
  const name = /\{(\w+)\?\}/.exec(text)?.[1]
  return name === undefined || values[name] !== undefined
}

function paramsOf(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const realm = params.userid?.split('@').at(-1)
  const guest = /^(\d+)-\d+$/.exec(params.id ?? '')?.[1]
  const fleecingStorage = /(?:^|,)storage=([^,]+)/.exec(params.fleecing ?? '')?.[1]
  return { ...defined({ realm, guest, fleecingStorage }), ...params }
}

function filled(text: string, values: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(/\{(\w+)\??\}/g, (_, name: string) => values[name] ?? '')
}
