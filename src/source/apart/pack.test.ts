import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import type { KubeObject } from '../../model/kube-object.ts'
import { readFiles } from '../files/read-files.ts'
import { piecesOf, unpack } from './pack.ts'

const object = (name: string, values: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'x' },
  data: Array.from({ length: values }, () => ({ a: 1 })),
})

test('[S-41] what is taken over from the reading thread in one go is small in number and in size', () => {
  const objects = Array.from({ length: 120 }, (_, at) => object(`m${at}`, at % 3 === 0 ? LIMITS.pieceNodes / 4 : 1))
  const revision = { ...readFiles({ files: [], links: [] }), objectsAt: () => ({ objects }) }
  const pieces = [...piecesOf(revision, ['apps'])]
  const sizes = pieces.flatMap((piece) => {
    const { at } = piece.objects ?? { at: { objects: [] } }
    return 'objects' in at ? [{ count: at.objects.length, nodes: JSON.stringify(at.objects).split(':').length }] : []
  })
  assert.ok(sizes.length > 20 && sizes.every(({ count, nodes }) => count <= 50 && nodes <= LIMITS.pieceNodes))
  const { id, files, incomplete, unreadable } = revision
  const whole = unpack({ id, files, incomplete, unreadable }, pieces).objectsAt?.('apps')
  assert.deepEqual(whole, { objects }, 'nothing is lost on the way, and the order stays')
})

test('[S-41] an object that is larger than a piece goes by itself', () => {
  const objects = [object('a', 1), object('b', LIMITS.pieceNodes), object('c', 1)]
  const revision = { ...readFiles({ files: [], links: [] }), objectsAt: () => ({ objects }) }
  assert.equal([...piecesOf(revision, ['apps'])].length, 3)
})
