import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actorName } from './actor-name.ts'

const CASES: readonly [string, string][] = [
  ['page:anna', 'anna'],
  ['cli:root', 'root'],
  ['git:Anna <anna@example.org>', 'Anna <anna@example.org>'],
  ['token:ci', 'token ci'],
  ['page:a:b', 'a:b'],
  ['oidc:anna (1 of https://id.example)', 'anna (1 of https://id.example)'],
  ['page:', 'page:'],
  ['ups', 'ups'],
  ['other:thing', 'other:thing'],
]

for (const [actor, name] of CASES) test(`${actor} is shown as ${name}`, () => assert.equal(actorName(actor), name))
