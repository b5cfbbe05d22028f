import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedExchanges } from '../../../test/evidence/read.ts'
import { AREAS } from '../facts/form.ts'
import { allOperations, findOperation } from './operations.ts'
import { type Asker, allowed, parsePermission, permissionOf, refusesToken } from './permissions.ts'

type Grant = readonly [path: string, privileges: readonly string[]]

/** Grants hold for everything below their path. */
function asker(
  id: string | undefined,
  grants: readonly Grant[],
  users: Readonly<Record<string, string[]>> = {},
): Asker {
  return {
    id,
    privilegesAt: (path) =>
      new Set(
        grants.filter(([at]) => at === '/' || path === at || path.startsWith(`${at}/`)).flatMap(([, all]) => all),
      ),
    userExists: (userid) => userid in users,
    groups: () => [...new Set(Object.values(users).flat())],
    membersOf: (group) => Object.keys(users).filter((user) => users[user]?.includes(group)),
  }
}

function verdict(expression: string, params: Record<string, unknown>, who: Asker): string {
  const result = allowed(parsePermission(expression), params, who)
  return result === true ? 'yes' : `${result.status} ${result.message}`
}

const CLONE =
  '(and (perm /vms/{vmid} VM.Clone) (or (perm /vms/{newid} VM.Allocate) (perm /pool/{pool} VM.Allocate if pool)))'
const users = { 'ann@pve': ['ops'], 'bob@pve': [], 'cy@pve': ['dev'] }

const cases: readonly [
  name: string,
  expression: string,
  params: Record<string, unknown>,
  who: Asker,
  expected: string,
][] = [
  ['world needs no login', 'world', {}, asker(undefined, []), 'yes'],
  ['all needs a login', 'all', {}, asker(undefined, []), '403 Permission check failed (user == null)'],
  ['root may everything', '(perm / Sys.Modify)', {}, asker('root@pam', []), 'yes'],
  [
    'a token of root is not root',
    'root',
    {},
    asker('root@pam!t', []),
    '403 Permission check failed (user != root@pam)',
  ],
  [
    'the first missing privilege is named',
    '(perm / Sys.Audit+Sys.Modify)',
    {},
    asker('a@pve', [['/', ['Sys.Audit']]]),
    '403 Permission check failed (/, Sys.Modify)',
  ],
  ['any is enough', '(perm / Sys.Audit|Sys.Modify)', {}, asker('a@pve', [['/', ['Sys.Modify']]]), 'yes'],
  [
    'all that would do are named',
    '(perm / Sys.Audit|Sys.Modify)',
    {},
    asker('a@pve', []),
    '403 Permission check failed (/, Sys.Audit|Sys.Modify)',
  ],
  [
    'clone names what is missing on the source',
    CLONE,
    { vmid: 1, newid: 2 },
    asker('a@pve', []),
    '403 Permission check failed (/vms/1, VM.Clone)',
  ],
  [
    'clone does not say which way is closed',
    CLONE,
    { vmid: 1, newid: 2 },
    asker('a@pve', [['/vms/1', ['VM.Clone']]]),
    '403 Permission check failed',
  ],
  [
    'clone into a pool',
    CLONE,
    { vmid: 1, newid: 2, pool: 'p' },
    asker('a@pve', [
      ['/vms/1', ['VM.Clone']],
      ['/pool/p', ['VM.Allocate']],
    ]),
    'yes',
  ],
  [
    'the right on a pool is worth nothing without the pool',
    CLONE,
    { vmid: 1, newid: 2 },
    asker('a@pve', [
      ['/vms/1', ['VM.Clone']],
      ['/pool', ['VM.Allocate']],
    ]),
    '403 Permission check failed',
  ],
  [
    'a path that cannot be is nowhere',
    '(perm /pool/{poolid} Pool.Allocate)',
    { poolid: 'a b' },
    asker('a@pve', [['/', ['Pool.Allocate']]]),
    '403 Permission check failed (, Pool.Allocate)',
  ],
  ['self', '(userid-param self)', { userid: 'a@pve' }, asker('a@pve', []), 'yes'],
  [
    'a token is not its user',
    '(userid-param self)',
    { userid: 'a@pve' },
    asker('a@pve!t', []),
    '403 Permission check failed',
  ],
  [
    'the realm of the user counts',
    '(userid-param Realm.AllocateUser)',
    { userid: 'x@pve' },
    asker('a@pve', [['/access/realm/pam', ['Realm.AllocateUser']]]),
    '403 Permission check failed (/access/realm/pve, Realm.AllocateUser)',
  ],
  [
    'a user name that cannot be read',
    '(userid-param Realm.AllocateUser)',
    { userid: 'ann' },
    asker('a@pve', []),
    "500 value 'ann' does not look like a valid user name",
  ],
  [
    'a user that is not there',
    '(userid-group User.Modify)',
    { userid: 'no@pve' },
    asker('a@pve', [], users),
    "500 no such user ('no@pve')",
  ],
  [
    'a right on all groups',
    '(userid-group User.Modify)',
    { userid: 'bob@pve' },
    asker('a@pve', [['/access/groups', ['User.Modify']]], users),
    'yes',
  ],
  [
    'a right on a group of the user',
    '(userid-group User.Modify|Sys.Audit)',
    { userid: 'ann@pve' },
    asker('a@pve', [['/access/groups/ops', ['Sys.Audit']]], users),
    'yes',
  ],
  [
    'a right on another group',
    '(userid-group User.Modify)',
    { userid: 'cy@pve' },
    asker('a@pve', [['/access/groups/ops', ['User.Modify']]], users),
    '403 Permission check failed',
  ],
  [
    'create without a group',
    '(userid-group User.Modify create)',
    { userid: 'new@pve' },
    asker('a@pve', [['/access/groups/ops', ['User.Modify']]], users),
    '403 Permission check failed (/access/groups, User.Modify)',
  ],
  [
    'create in a group',
    '(userid-group User.Modify create)',
    { userid: 'new@pve', groups: 'ops' },
    asker('a@pve', [['/access/groups/ops', ['User.Modify']]], users),
    'yes',
  ],
  [
    'create in a closed group',
    '(userid-group User.Modify create)',
    { userid: 'new@pve', groups: 'ops,dev' },
    asker('a@pve', [['/access/groups/ops', ['User.Modify']]], users),
    '403 Permission check failed (/access/groups/dev, User.Modify)',
  ],
  [
    'who may allocate a guest may share it',
    '(perm-modify {path})',
    { path: '/vms/100' },
    asker('a@pve', [['/vms', ['VM.Allocate']]]),
    'yes',
  ],
  [
    'changing access needs the right to',
    '(perm-modify {path})',
    { path: '/vms/100' },
    asker('a@pve', []),
    '403 Permission check failed (/vms/100, Permissions.Modify|VM.Allocate)',
  ],
  [
    'changing access at the root',
    '(perm-modify {path})',
    { path: '/' },
    asker('a@pve', []),
    '403 Permission check failed (/, Permissions.Modify)',
  ],
]

for (const [name, expression, params, who, expected] of cases) {
  test(`permission: ${name}`, () => assert.equal(verdict(expression, params, who), expected))
}

test('every permission in the tables can be read', () => {
  for (const operation of allOperations(AREAS)) assert.ok(permissionOf(operation).kind)
})

test('a token is refused where a ticket is needed', () => {
  const password = findOperation('PUT', '/access/password')?.operation
  assert.ok(password)
  const refusal = refusesToken(password, '/access/password')
  assert.notEqual(refusal, true)
  const message = "Permission check failed (URI '/access/password' not available with API token, need proper ticket.\n)"
  assert.deepEqual(refusal, { status: 403, message })
})

/** Operations that look at more than their permission once they run; there a 403 may come later, or from within. */
const LOOKS_FURTHER: ReadonlySet<string> = new Set([
  'POST /nodes/{node}/qemu',
  'PUT /nodes/{node}/qemu/{vmid}/config',
  'POST /nodes/{node}/qemu/{vmid}/clone',
  'POST /nodes/{node}/qemu/{vmid}/move_disk',
  'DELETE /nodes/{node}/storage/{storage}/content/{volume}',
  'POST /nodes/{node}/vzdump',
  'POST /nodes/{node}/startall',
])

test('what each missing privilege answers is as recorded', (context) => {
  const ladders = new Map<string, Grant[]>([['token:aud@pve!tok', [['/vms', ['VM.Audit']]]]])
  const different: string[] = []
  let refused = 0
  let letIn = 0
  for (const one of recordedExchanges('B')) {
    const step = /^ladder-.*? \d+\+([A-Za-z.+]+)@(\/\S*)/.exec(one.label)
    if (!/^(?:deny-|ladder-)/.test(one.label) || !one.auth.startsWith('token:')) continue
    // Each step of a ladder adds what its label names; a task's own answers repeat the label with a tail.
    if (step && !/\/(?:status|log)$/.test(one.label)) {
      const grants = ladders.get(one.auth) ?? []
      grants.push([step[2] ?? '', (step[1] ?? '').split('+')])
      ladders.set(one.auth, grants)
    }
    const url = new URL(one.path, 'https://localhost')
    const found = findOperation(one.method, decodeURIComponent(url.pathname.slice('/api2/json'.length)))
    assert.ok(found, one.path)
    const form = Object.fromEntries([...url.searchParams, ...new URLSearchParams(one.req_body ?? '')])
    const who = asker(one.auth.slice('token:'.length), ladders.get(one.auth) ?? [], { 'none@pve': [], 'root@pam': [] })
    const result = allowed(permissionOf(found.operation), { ...form, ...found.pathParams }, who)
    const place = `${found.operation.method} ${found.operation.path}`
    const got = result === true ? 'yes' : result.message
    const wanted = one.status === 403 ? one.reason : 'yes'
    if (wanted === 'yes') letIn += 1
    else refused += 1
    if (got !== wanted && !(got === 'yes' && LOOKS_FURTHER.has(place)))
      different.push(`${one.label}: ${wanted} / ${got}`)
  }
  context.diagnostic(`${refused} refused and ${letIn} let in`)
  assert.deepEqual(different, [])
  assert.ok(refused > 150 && letIn > 80)
})
