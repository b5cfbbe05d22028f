import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTexts } from '../testing/fixture.ts'
import { excerpt } from './excerpt.ts'

const CANARY = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'

test('a token in a file that is refused is in no text about it, whatever is wrong and wherever', () => {
  const proxmox = (spec: string) =>
    `apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: default}\nspec:\n${spec}`
  const token = `croft@pve!ci=${CANARY}`
  const files = [
    proxmox(`  endpoint: https://127.0.0.1:8006\n  token: ${token}\n`),
    proxmox(`  endpoint: https://127.0.0.1:8006\n  token: ${token}\n  nonsense: 1\n`),
    proxmox(`  token: "${token}"\n  endpoint: 5\n`),
    proxmox(`  endpoint: https://127.0.0.1:8006\n  token: {value: "${token}"}\n  vmids: x\n`),
    proxmox(`  password: ${CANARY}\n  endpoint: [\n`),
    proxmox(`  password: |\n    ${CANARY}\n  nonsense: 1\n`),
    proxmox(`  token: >- # of the host\n\n    first\n    ${CANARY}\n  nonsense: 1\n`),
    proxmox(`  token:\n    ${CANARY}\n  nonsense: 1\n`),
    proxmox(`  apiKey: ${CANARY}\n`),
    proxmox(`  password: "${CANARY}\n  endpoint: 5\n`),
    proxmox(`  key: |\n    -----BEGIN PRIVATE KEY-----\n    ${CANARY}\n  nonsense: 1\n`),
    `apiVersion: croft.dev/v1alpha1\nkind: Nonsense\nmetadata: {name: x}\nspec:\n  token: '${token}'\n  a: b\n`,
    `token: ${token}\n\tbroken: [\n`,
  ]
  for (const text of files) {
    const { problems } = readTexts({ 'a.yaml': text })
    assert.ok(problems.length > 0, text)
    assert.ok(!JSON.stringify(problems).includes(CANARY), JSON.stringify(problems, null, 1))
  }
})

test('what is no secret is shown as it is', () => {
  const lines = [
    '  token: {env: PROXMOX_TOKEN}',
    '  secretsEncryption: true',
    '  name: token-1',
    '  secret:',
    '  key: node-role',
  ]
  for (const line of lines) assert.match(excerpt(line, 1, 1), new RegExp(line.trim().replace(/[[\]{}]/g, '\\$&')))
  assert.match(excerpt('  token:\n    env: PROXMOX_TOKEN\n    x: 1', 3, 5), /env: PROXMOX_TOKEN/)
  assert.match(excerpt('  token: abc-def # why', 1, 3), /token: \*\*\* # why/)
})

test('a line of a megabyte is shown as fast as a short one', () => {
  for (const piece of ['a', ' ', '-', 'a@', 'a@a!', 'a=', 'token', 'token ', 'token:', 'key: ', '"', '|']) {
    const line = `  memory: 1 ${piece.repeat(Math.ceil(1_000_000 / piece.length))}`
    // A quadratic algorithm would not end here.
    assert.match(excerpt(`spec:\n${line}\n${line}`, 3, 3), /memory: 1/, piece)
  }
})
