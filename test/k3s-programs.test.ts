import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { programs } from './k3s/programs.ts'

const RELEASES = 'https://github.com/k3s-io/k3s/releases/download'
const name = process.arch === 'arm64' ? 'k3s-arm64' : 'k3s'
const sums = `sha256sum-${process.arch === 'arm64' ? 'arm64' : 'amd64'}.txt`
const program = (version: string) => `#!/bin/sh\necho "\${0##*/} version ${version} (abc)"\n`
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The official releases as they are published, without the network: what is asked for, and what is refused. */
describe('the official releases for test:k3s', () => {
  let home: string
  before(() => {
    home = mkdtempSync(join(tmpdir(), 'croft-k3s-programs-'))
  })
  after(() => rmSync(home, { recursive: true, force: true }))

  /** Answers as the releases do. Other files than the program are listed beside it, one with the same ending. */
  function releases(change: (version: string) => { text?: string; sum?: string; absent?: true } = () => ({})) {
    const asked: string[] = []
    const get = async (url: string) => {
      asked.push(url)
      const [version = '', file] = url.slice(`${RELEASES}/`.length).split('/').map(decodeURIComponent)
      const { text = program(version), sum = sha256(program(version)), absent } = change(version)
      if (absent === true) throw new Error(`${url} answers 404`)
      const list = [
        `${'0'.repeat(64)}  ${name}-airgap-images.tar.zst`,
        `${'1'.repeat(64)}  other-${name}`,
        `${sum}  ${name}`,
      ]
      return new Response(file === sums ? `${list.join('\n')}\n` : text)
    }
    return { asked, get }
  }
  const cached = (folder: string) => {
    try {
      return readdirSync(join(home, folder, 'croft', 'k3s'))
    } catch {
      return []
    }
  }

  test('are fetched by name, proved, and kept', async () => {
    const { asked, get } = releases()
    const found = await programs([], { get, cache: join(home, 'good') })
    assert.ok(typeof found !== 'string', JSON.stringify(found))
    const versions = found.map(({ version }) => version)
    assert.equal(versions.length, 2)
    const base = (version: string) => `${RELEASES}/${encodeURIComponent(version)}`
    assert.deepEqual(
      asked,
      versions.flatMap((version) => [`${base(version)}/${sums}`, `${base(version)}/${name}`]),
    )
    for (const { path, version, sha256: sum } of found) {
      assert.equal(statSync(path).mode & 0o777, 0o755)
      assert.equal(sum, sha256(program(version)))
    }
    asked.splice(0)
    assert.deepEqual(await programs([], { get, cache: join(home, 'good') }), found)
    assert.deepEqual(asked, [], 'what is kept is not fetched again')
  })

  test('with another checksum, not listed, missing or of another version are refused, and nothing is kept', async () => {
    const table = [
      ['checksum', { text: 'something else' }, /has another checksum than/],
      ['unlisted', { sum: 'not a checksum' }, /names no program for/],
      ['missing', { absent: true as const }, /answers 404/],
      ['version', { text: program('v1.2.3+k3s1'), sum: sha256(program('v1.2.3+k3s1')) }, /calls itself v1\.2\.3\+k3s1/],
    ] as const
    for (const [folder, answer, words] of table) {
      const { get } = releases(() => answer)
      const why = await programs([], { get, cache: join(home, folder) })
      assert.ok(typeof why === 'string', folder)
      assert.match(why, words)
      assert.deepEqual(cached(folder), [], folder)
    }
  })
})
