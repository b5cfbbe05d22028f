import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { must, ROOT } from './clone.ts'

/** The stages of a Containerfile: each instruction with its words. */
function stagesOf(text: string): readonly (readonly (readonly [string, string])[])[] {
  const lines = text.replaceAll(/\\\n/g, ' ').split('\n')
  const instructions = lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line): readonly [string, string] => [line.split(' ')[0] ?? '', line.slice(line.indexOf(' ') + 1).trim()])
  const starts = instructions.flatMap(([word], at) => (word === 'FROM' ? [at] : []))
  return starts.map((at, index) => instructions.slice(at, starts[index + 1]))
}

/** A stand-in for a builder of images: copies what it copies, runs what it runs with Node; packages are left to apt and npm. */
test('what the Containerfile copies and builds is a program that starts', () => {
  const room = mkdtempSync(join(tmpdir(), 'croft-container-'))
  const roots = new Map<string, string>()
  try {
    let last = ''
    for (const [index, stage] of stagesOf(readFileSync(join(ROOT, 'deploy/Containerfile'), 'utf8')).entries()) {
      const root = join(room, String(index))
      last = join(root, 'opt/croft')
      for (const [word, rest] of stage) {
        if (word === 'FROM') roots.set(/ AS (\w+)/.exec(rest)?.[1] ?? '', root)
        else if (word === 'WORKDIR') mkdirSync(join(root, rest), { recursive: true })
        else if (word === 'COPY') copy(rest, last)
        else if (word === 'RUN' && rest.startsWith('npm ci'))
          symlinkSync(join(ROOT, 'node_modules'), join(last, 'node_modules'))
        else if (word === 'RUN' && rest.startsWith('node ')) must(process.execPath, rest.split(' ').slice(1), last)
      }
    }
    assert.equal(existsSync(join(last, 'node_modules')), false)
    const call = (...words: string[]) =>
      must(process.execPath, [join(last, 'bin/croft'), ...words], room, { HOME: room })
    assert.match(call('version'), /^croft \d/)
    assert.match(call('validate', join(last, 'examples/k3s-libvirt')), /are valid/)
    assert.ok(existsSync(join(last, 'dist/web/index.html')))
  } finally {
    rmSync(room, { recursive: true, force: true })
  }

  function copy(rest: string, to: string): void {
    const words = rest.split(' ')
    const from = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1]
    const sources = words.slice(from === undefined ? 0 : 1, -1)
    const target = words.at(-1) ?? ''
    for (const source of sources) {
      const path = join(from === undefined ? ROOT : (roots.get(from) ?? ''), source)
      const place = target === './' ? join(to, basename(source)) : join(to, target)
      mkdirSync(dirname(place), { recursive: true })
      cpSync(path, place, { recursive: true })
    }
  }
})
