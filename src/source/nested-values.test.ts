import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, readTexts, vmManifest } from './testing/fixture.ts'

/** A block in place of a text is reported with its place. */
for (const [what, text, line] of [
  ['a label', vmManifest('vmId: 1007').replace('name: web-1', 'name: web-1\n  labels: {board: {a: b}}'), 5],
  [
    'a label that is a list of blocks',
    vmManifest('vmId: 1007').replace('name: web-1', 'name: web-1\n  labels: {board: [{a: b}]}'),
    5,
  ],
  ['an annotation', vmManifest('vmId: 1007').replace('name: web-1', 'name: web-1\n  annotations: {board: {a: b}}'), 5],
  ['all labels', vmManifest('vmId: 1007').replace('name: web-1', 'name: web-1\n  labels: [{a: b}]'), 5],
  ['the name', vmManifest('vmId: 1007').replace('name: web-1', 'name: {a: b}'), 4],
  ['the namespace', vmManifest('vmId: 1007').replace('name: web-1', 'name: web-1\n  namespace: {a: b}'), 5],
  ['a field', vmManifest('vmId: {a: b}'), undefined],
  ['a field of text', vmManifest('vmId: 1007\ndescription: {a: b}'), undefined],
] as const)
  test(`a block in the place of ${what} is a problem with its place`, () => {
    const found = errorsOf(readTexts({ 'vms/web.yaml': text }))
    assert.ok(found.length > 0, 'nothing is told')
    for (const { message, origin } of found) {
      assert.equal(origin.file, 'vms/web.yaml')
      assert.ok(origin.line > 1 && origin.column > 0, `${origin.line}:${origin.column}`)
      if (line !== undefined) assert.equal(origin.line, line)
      assert.doesNotMatch(message, /croft failed|primitive value|\[object/)
    }
  })

for (const [what, text] of [
  ['the kind', 'apiVersion: croft.dev/v1alpha1\nkind: {a: b}\nmetadata: {name: x}\n'],
  ['the apiVersion', 'apiVersion: {a: b}\nkind: Machine\nmetadata: {name: x}\n'],
  ['the metadata', 'apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: [{a: b}]\n'],
  [
    'what a graph makes',
    'apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: g}\nspec:\n  schema: {apiVersion: {a: b}, kind: {a: b}, spec: {}}\n  resources: [{id: {a: b}, template: {kind: {a: b}}}]\n',
  ],
] as const)
  test(`a block in the place of ${what} ends nothing`, () => {
    readTexts({ 'x.yaml': text })
  })
