import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../kinds/registry.ts'
import { readTexts } from '../source/testing/fixture.ts'
import { link } from './link.ts'

const estate = (name: string, uid: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Estate\nmetadata: {name: ${name}}\nspec: {uid: "${uid}"}\n`

function problemsOf(files: Readonly<Record<string, string>>) {
  const read = readTexts(files)
  const { problems } = link(read, { findKind, problemAt: read.problemAt })
  return problems.map(({ code, origin }) => `${code} ${origin.file}`)
}

test('[D-02] a directory that says twice which estate it is, is told at the second place; what else is in it is not', () => {
  const pool = 'apiVersion: croft.dev/v1alpha1\nkind: AddressPool\nmetadata: {name: lan}\nspec: {cidr: 10.0.0.0/24}\n'
  const pools = `${pool}---\n${pool.replace('name: lan', 'name: dmz').replace('10.0.0.0', '10.1.0.0')}`
  const one = { 'a.yaml': estate('home', '0123456789abcdef'), 'pools.yaml': pools }
  assert.deepEqual(problemsOf(one), [])
  assert.deepEqual(problemsOf({ ...one, 'b.yaml': estate('copy', 'fedcba9876543210') }), ['two-estates b.yaml'])
})
