import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readCommit, resolveCommit } from '../git/git.ts'
import { readTree } from '../read-tree.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-generators-'))
after(() => rmSync(root, { recursive: true }))
const git = (...words: string[]) => execFileSync('git', ['-C', root, ...words], { stdio: 'pipe' })

mkdirSync(join(root, 'app/conf'), { recursive: true })
writeFileSync(
  join(root, 'app/kustomization.yaml'),
  'configMapGenerator:\n  - {name: web, files: [conf/nginx.conf, logo=logo.bin, ../top.txt], envs: [web.env]}\n',
)
writeFileSync(join(root, 'app/conf/nginx.conf'), 'listen 80;\r\n')
writeFileSync(join(root, 'app/logo.bin'), Buffer.from([0xff, 0xd8, 0xff]))
writeFileSync(join(root, 'app/web.env'), 'A=1\n')
writeFileSync(join(root, 'top.txt'), 'top')
git('init', '-q')
git('add', '.')
git('-c', 'user.name=a', '-c', 'user.email=a@example.invalid', 'commit', '-qm', 'x')

function dataOf(found: { readonly objects?: readonly unknown[]; readonly problem?: string } | undefined) {
  assert.equal(found?.problem, undefined)
  const [object] = JSON.parse(JSON.stringify(found?.objects)) as { data: unknown; binaryData: unknown }[]
  return { data: object?.data, binaryData: object?.binaryData }
}

const expected = {
  data: { A: '1', 'nginx.conf': 'listen 80;\r\n', 'top.txt': 'top' },
  binaryData: { logo: '/9j/' },
}

test('generators read files that are no manifests, byte for byte, from a directory and from a commit', async () => {
  assert.deepEqual(dataOf((await readTree(root)).objectsAt?.('app')), expected)
  const commit = await resolveCommit(root, 'HEAD')
  assert.ok(commit !== undefined)
  assert.deepEqual(dataOf((await readCommit(root, commit, {})).objectsAt?.('app')), expected)
})

test('another content is another revision', async () => {
  const before = (await readTree(root)).id
  writeFileSync(join(root, 'top.txt'), 'changed')
  assert.notEqual((await readTree(root)).id, before)
})

test('[S-08] a generator that names a file outside of the repository, or a link to one, gets nothing', async () => {
  const other = mkdtempSync(join(tmpdir(), 'croft-generators-'))
  try {
    symlinkSync('/etc/hostname', join(other, 'link.txt'))
    for (const file of ['/etc/hostname', '../../etc/hostname', 'link.txt', 'missing.txt']) {
      writeFileSync(join(other, 'kustomization.yaml'), `configMapGenerator:\n  - {name: a, files: ["x=${file}"]}\n`)
      const { problems } = await readTree(other)
      assert.match(problems.map(({ message }) => message).join(), /is not there|leads out/, file)
    }
  } finally {
    rmSync(other, { recursive: true })
  }
})
