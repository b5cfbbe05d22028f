import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ran, Shell } from '../../../lib/shell.ts'

/** A shell whose only program is virsh on libvirt's own test driver. */
export interface TestDriverShell extends Shell {
  /** Runs one virsh command at once without faults, as a person on the host would. */
  direct(line: string): Promise<string>
}

/**
 * libvirt's test driver loses its state when its process ends, so one virsh stays open for all commands. Each command
 * of the driver becomes a line for it; stdin becomes a file.
 */
export function testDriverShell(uri: string): TestDriverShell {
  const directory = mkdtempSync(join(tmpdir(), 'croft-virsh-'))
  const child: ChildProcessWithoutNullStreams = spawn('sh', ['-c', 'exec env LC_ALL=C virsh -c "$1" 2>&1', 'sh', uri])
  let output = ''
  let waiting: { readonly until: string; done(text: string): void } | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let count = 0
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString()
    const end = waiting === undefined ? -1 : output.indexOf(waiting.until)
    if (waiting === undefined || end === -1) return
    const text = output.slice(0, end)
    output = output.slice(end + waiting.until.length)
    const { done } = waiting
    waiting = undefined
    done(text)
  })

  const lines = (text: string): Promise<string> => {
    const result = turn.then(
      () =>
        new Promise<string>((done) => {
          const mark = `end-${++count}`
          waiting = { until: `${mark} here`, done }
          child.stdin.write(`${text}\necho "${mark}" "here"\n`)
        }),
    )
    turn = result
    return result
  }
  const plain = (text: string) =>
    text
      .split('\n')
      .filter((line) => !/virsh [#>] /.test(line) && !/^(?:Welcome|Type:|\s+'quit')/.test(line))
      .join('\n')

  return {
    async run(argv, options = {}): Promise<Ran> {
      const at = argv.indexOf('virsh')
      if (at === -1) return { code: 1, stdout: '', stderr: `${argv[0]}: not here` }
      const words = argv.slice(at + 3)
      const input = options.input
      if (words.length === 0) return { code: 0, stdout: await lines(String(input ?? '')), stderr: '' }
      const grown = await madeUpGrowth(words, lines)
      if (grown !== undefined) return grown
      const file = join(directory, `input-${++count}`)
      if (input !== undefined) writeFileSync(file, input)
      const line = words.map((word) => `"${(word === '/dev/stdin' ? file : word).replace(/["\\]/g, '\\$&')}"`).join(' ')
      const said = plain(await lines(line))
      const failed = /^error: /m.test(said)
      return failed ? { code: 1, stdout: '', stderr: said } : { code: 0, stdout: said, stderr: '' }
    },
    direct: async (line) => plain(await lines(line)).trim(),
    readFile: () => Promise.resolve(undefined),
    writeFile: () => Promise.resolve(),
    close: () => {
      child.stdin.end()
      rmSync(directory, { recursive: true, force: true })
      return new Promise((done) => {
        if (child.exitCode !== null) done()
        else child.once('exit', () => done())
      })
    },
  }
}

/** The test driver cannot grow volumes: recreates them in the wanted size, with virsh's answer. */
async function madeUpGrowth(
  words: readonly string[],
  lines: (text: string) => Promise<string>,
): Promise<Ran | undefined> {
  const [verb, first = '', second = '', third = '', size = ''] = words
  const again = async (pool: string, volume: string, capacity: string) => {
    await lines(`vol-delete --pool ${pool} ${volume}\nvol-create-as ${pool} ${volume} ${capacity} --format qcow2`)
  }
  if (verb === 'vol-resize') {
    await again(second, third, size)
    return { code: 0, stdout: `Size of volume '${third}' successfully changed to ${size}\n`, stderr: '' }
  }
  if (verb !== 'blockresize') return undefined
  const path = new RegExp(`<source file='([^']+)'[^>]*/>\\s*<target dev='${second}'`).exec(
    await lines(`dumpxml ${first}`),
  )?.[1]
  const [, pool = '', volume = ''] = /^\/([^/]+)\/(.+)$/.exec(path ?? '') ?? []
  await again(pool, volume, third)
  return { code: 0, stdout: `Block device '${second}' is resized\n`, stderr: '' }
}
