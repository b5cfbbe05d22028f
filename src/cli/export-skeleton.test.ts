import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { findKind, KINDS } from '../kinds/registry.ts'
import { link } from '../plan/link.ts'
import { readTree } from '../source/read-tree.ts'
import { runCli } from './run.ts'
import { fakeRuntime } from './testing/fake-runtime.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/k3s-metal', import.meta.url))

for (const to of ['argocd', 'flux'] as const) {
  test(`croft export ${to} writes a repository with every add-on and no secret, and overwrites nothing`, async () => {
    const target = mkdtempSync(path.join(tmpdir(), 'croft-export-'))
    try {
      const revision = await readTree(EXAMPLE)
      const loaded = {
        declarations: revision.declarations,
        estate: link(revision, { findKind }),
        files: revision.files,
        ignored: 0,
      }
      const runtime = fakeRuntime({ kinds: async () => KINDS, load: async () => loaded })
      const words = ['export', to, target, '--repository', 'https://git.example.org/farm', '--dir', EXAMPLE]
      assert.equal(await runCli(words, runtime), 0)
      const files = readdirSync(target, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'))
      assert.ok(files.includes(`clusters/farm/${to}/cilium.yaml`), files.join())
      for (const file of files) {
        const text = readFileSync(path.join(target, file), 'utf8')
        for (const document of parseAllDocuments(text)) {
          const { kind } = document.toJS() as { kind: string }
          assert.notEqual(kind, 'Secret')
          assert.ok(!/HelmChart/.test(kind), file)
        }
      }
      assert.match(readFileSync(path.join(target, 'README.md'), 'utf8'), /garage\/garage/)
      assert.notEqual(await runCli(words, runtime), 0)
    } finally {
      rmSync(target, { recursive: true, force: true })
    }
  })
}
