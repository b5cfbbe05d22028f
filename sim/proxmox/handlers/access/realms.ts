import { parseProperties } from '../../../world/properties.ts'
import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, list, STALE, things } from '../collection.ts'
import { EMPTY_DIGEST, fields, shelf, type Thing, textOf } from '../shelf.ts'

/** Where users come from. Two are always there and cannot be made or lost. */
const BUILT_IN: Readonly<Record<string, Thing>> = {
  pam: { type: 'pam', comment: 'Linux PAM standard authentication' },
  pve: { type: 'pve', comment: 'Proxmox VE authentication server' },
}

const EVERY = 'default comment'
const DIRECTORY =
  `${EVERY} tfa server1 server2 base_dn bind_dn password user_attr port secure sslversion verify capath cert certkey filter ` +
  'sync_attributes user_classes group_dn group_name_attr group_filter group_classes sync-defaults-options mode case-sensitive'
/** What each kind of realm can be told. */
const OPTIONS: Readonly<Record<string, string>> = {
  pam: `${EVERY} tfa`,
  pve: `${EVERY} tfa`,
  ldap: DIRECTORY,
  ad: `${DIRECTORY} domain`,
  openid:
    `${EVERY} issuer-url client-id client-key autocreate username-claim groups-claim groups-autocreate groups-overwrite ` +
    'prompt scopes acr-values audiences query-userinfo',
}

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  ldap: ['server1', 'base_dn', 'user_attr'],
  ad: ['server1', 'domain'],
  openid: ['issuer-url', 'client-id'],
}

const REALMS: Collection = {
  at: '/access/domains',
  key: 'realm',
  shelf: (call) => {
    const kept = shelf(call.world, 'realms')
    for (const [id, realm] of Object.entries(BUILT_IN)) if (!kept.has(id)) kept.set(id, { ...realm })
    return 'realms'
  },
  exists: (id) => failed(`add auth server failed: domain '${id}' already exists`),
  missing: (id, verb) =>
    failed(
      {
        read: `domain '${id}' does not exist`,
        // Looking for its type makes an empty one, which is then there.
        update:
          'update auth server failed: cannot lookup undefined type! at /usr/share/perl5/PVE/API2/Domains.pm line 261.',
        delete: `delete auth server failed: authentication domain '${id}' does not exist`,
      }[verb],
    ),
  stale: failed(`update auth server failed: ${STALE}`),
  refuseChange: (call) => {
    const there = things(REALMS, call).has(param(call, 'realm'))
    if (!there && Object.keys(fields(call, 'realm')).length === 0 && textOf(call.params.delete) === '')
      throw failed('update auth server failed: no options specified')
  },
  prepare: (call, { 'check-connection': checked, ...thing }, id, old) => {
    const type = String(old?.type ?? thing.type)
    const refuse = (text: string) => failed(`${old === undefined ? 'add' : 'update'} auth server failed: ${text}`)
    if (old === undefined && BUILT_IN[type] !== undefined) throw refuse(`unable to create builtin type '${type}'`)
    if (checked !== undefined && type !== 'ldap' && type !== 'ad')
      throw refuse("'check-connection' parameter can only be set for realms of type 'ldap' or 'ad'")
    const given = Object.keys(fields(call, 'realm', 'type', 'check-connection'))
    if (old !== undefined && given.length === 0 && textOf(call.params.delete) === '')
      throw refuse('no options specified')
    const foreign = given.find((name) => name !== 'password' && !OPTIONS[type]?.split(' ').includes(name))
    if (foreign !== undefined) throw refuse(`unexpected property '${foreign}'`)
    if (old !== undefined && given.includes('username-claim'))
      throw refuse("can't change value of fixed parameter 'username-claim'")
    const missing = (REQUIRED[type] ?? []).find((key) => thing[key] === undefined)
    if (missing !== undefined)
      throw refuse(`${old === undefined ? '' : `section '${id}' - `}missing value for required option '${missing}'`)
    if (thing.default === 1) for (const [other, realm] of things(REALMS, call)) if (other !== id) delete realm.default
    return { ...thing, type }
  },
  row: (_, { password: __, ...thing }) => thing,
  one: (call, thing, id, digest) => {
    return {
      ...thing,
      ...(id === 'pam' ? { plugin: 'PVE::Auth::PAM' } : {}),
      digest: onlyBuiltIn(call) ? EMPTY_DIGEST : digest,
    }
  },
  listed: (_, thing, realm) => {
    const row: Thing = { realm, type: thing.type }
    if (thing.comment !== undefined) row.comment = thing.comment
    if (thing.tfa !== undefined) row.tfa = parseProperties(textOf(thing.tfa)).named.get('type')
    return thing.default === 1 ? { ...row, default: 1 } : row
  },
}

/** Reports whether the file is missing, as it is until the first entry is added. */
function onlyBuiltIn(call: Call): boolean {
  return [...things(REALMS, call)].every(([id, realm]) => JSON.stringify(BUILT_IN[id]) === JSON.stringify(realm))
}

export const accessRealmRoutes: Routes = {
  ...collectionRoutes(REALMS),
  'GET /access/domains': (call) => list(REALMS, call),
}
