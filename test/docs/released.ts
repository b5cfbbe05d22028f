import { resolve } from 'node:path'
import { pack } from '../../scripts/release.ts'
import { smallTree } from '../small-tree.ts'

/** Packs a release for download into the current directory. The argument is the key that signs it. */
pack(smallTree(resolve('tree')), {
  key: process.argv[2] ?? 'key',
  out: '.',
  commit: 'a'.repeat(40),
  repository: 'https://git.example/croft.git',
})
