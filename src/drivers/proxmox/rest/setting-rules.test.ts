import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Survey } from '../../../model/resource.ts'
import type { SettingSpec } from '../../../model/rest.ts'
import { settingRules } from './setting-rules.ts'

const SURVEY = {
  hosts: [
    { name: 'alpha', online: true },
    { name: 'beta', online: false },
  ],
} as unknown as Survey
const setting = (definition: string, id: string, host?: string) =>
  ({ definition, id, fields: {}, ...(host === undefined ? {} : { host }) }) as unknown as SettingSpec

const CASES: readonly [string, SettingSpec, readonly RegExp[]][] = [
  ['a pool, that any token may make', setting('pool', 'web'), []],
  [
    'an ACME account, that root alone registers',
    setting('acme-account', 'home'),
    [/^no token may make the ACME account home.* run on a host: pvenode acme account register home MAIL$/],
  ],
  [
    'names of a host that does not show any',
    setting('dns', 'dns', 'alpha'),
    [/^no token may make.*; make it by hand$/],
  ],
  ['an entry of a host that is there', setting('bridge', 'vmbr1', 'alpha'), []],
  ['names of a host that is off', setting('dns', 'dns', 'beta'), [/^host beta is offline/]],
  ['names of a host that nobody has', setting('dns', 'dns', 'gamma'), [/^there is no host gamma/]],
]

for (const [what, one, expected] of CASES)
  test(`what stands in the way of a setting: ${what}`, () => {
    const found = settingRules.obstacles(one, SURVEY).map(({ message, allow }) => `${message}; ${allow}`)
    assert.equal(found.length, expected.length, found.join('\n'))
    for (const [at, pattern] of expected.entries()) assert.match(found[at] ?? '', pattern)
  })
