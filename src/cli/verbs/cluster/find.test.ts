import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterSpec } from '../../../plan/clusters/testing/fixture.ts'
import { meantCluster } from './find.ts'

const HOME = { name: 'home', spec: clusterSpec('s1 s2 s3') }
const LAB = { name: 'lab', spec: clusterSpec('t1') }

test('a cluster is meant by its name, by a node, or because it is the only one', () => {
  const table: readonly (readonly [string, number, string])[] = [
    ['', 0, 'home:'],
    ['home', 0, 'home:'],
    ['home token', 1, 'home:token'],
    ['token', 1, 'home:token'],
    ['s2', 0, 'home:'],
    ['s2', 1, 'home:s2'],
    ['s2 token', 1, 'home:token'],
    ['home s2', 1, 'home:s2'],
    ['prod', 0, 'There is no cluster prod. Declared clusters: home.'],
    ['prod snapshot', 1, 'There is no cluster prod. Declared clusters: home.'],
    ['home merge twice', 1, 'twice is one word too many after home. Leave it out.'],
  ]
  for (const [words, most, expected] of table) assert.equal(said([HOME], words, most), expected, words)
})

test('of two clusters one has to be named', () => {
  assert.equal(said([HOME, LAB], '', 0), 'Name the cluster. Declared clusters: home, lab.')
  assert.equal(
    said([HOME, LAB], 'prod', 0),
    'There is no cluster prod. Name the cluster. Declared clusters: home, lab.',
  )
  assert.equal(said([HOME, LAB], 't1', 0), 'lab:')
  assert.equal(said([], 'prod', 0), 'No cluster is declared here. Name the directory with --dir.')
})

function said(clusters: readonly (typeof HOME)[], text: string, most: number): string {
  const meant = meantCluster(clusters, text === '' ? [] : text.split(' '), most)
  return 'problem' in meant ? meant.problem : `${meant.cluster.name}:${meant.words.join(' ')}`
}
