import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CROFT, endAll, LONGEST_SERVING_MS, scratch, signal, start } from './children.ts'

after(endAll)

test('every command that the tour prints works as it is printed', async () => {
  const cwd = scratch()
  const tour = start(['demo'], { cwd, env: { HOME: cwd }, longestMs: LONGEST_SERVING_MS })
  let said = ''
  tour.child.stdout?.on('data', (text: string) => {
    said += text
  })
  for (let tries = 0; !said.includes('Ctrl-C ends it') && tries < 2_400; tries++) await sleep(100)
  const [, block = ''] = /From another terminal:\n\n([\s\S]*?)\n\nThe page is at/.exec(said) ?? []
  const commands = block
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}\S.*$/, ''))
    .filter((line) => line !== '')
  assert.ok(commands.length >= 8, said.slice(-3000))
  // The page: its address comes before the first scene, and it shows what the scenes did.
  const [, page = ''] = /^The page of this tour is at (http:\S+):/.exec(said) ?? []
  assert.equal((await fetch(page)).status, 200)
  const shown = await (await fetch(`${page}/api/view`)).text()
  assert.match(shown, /k3s-vm-fun-bedbug/)
  assert.match(shown, /Add a third server to edge/)
  const [enter = '', environment = '', ...rest] = commands
  // What the scenes printed after a dollar sign: commits that are there, and commands that work where the tour works.
  // Before the push below: while croft carries that out, a plan rightly says that something waits.
  const typed = [...said.matchAll(/^\$ (.+)$/gm)].map(([, text = '']) => text)
  const commits = typed.flatMap(
    (text) => /^git commit -m "(.+)" && git push {3}([0-9a-f]{7})$/.exec(text)?.slice(1, 3) ?? [],
  )
  const others = [...new Set(typed.filter((text) => !text.startsWith('git commit')))]
  assert.ok(commits.length >= 6 && others.length >= 3, typed.join('\n'))
  const bin = { PATH: `${path.dirname(CROFT)}:${process.env.PATH ?? ''}`, HOME: cwd }
  const ran = (command: string) =>
    spawnSync('bash', ['-c', `${enter} && ${environment} && ${command}`], { encoding: 'utf8', cwd, env: bin })
  for (let at = 0; at < commits.length; at += 2)
    assert.equal(ran(`git log -1 --format=%s ${commits[at + 1]}`).stdout.trim(), commits[at])
  for (const command of others) {
    const { status, stdout, stderr } = ran(command)
    assert.equal(status, 0, `${command}: ${stdout}${stderr}`)
  }
  const codes = new Map<string, number | null>()
  for (const command of rest) {
    const ran = spawnSync('bash', ['-c', `${enter} && ${environment} && ${command}`], {
      encoding: 'utf8',
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: cwd },
    })
    codes.set(command.replace(/^\S*croft /, 'croft '), ran.status)
    const differs = /croft diff/.test(command)
    assert.equal(ran.status, differs ? 2 : 0, `${command}: ${ran.stdout}${ran.stderr}`)
    if (/croft plan/.test(command)) assert.match(ran.stdout, /^No changes\./)
    if (differs) assert.match(ran.stdout, /cores/)
  }
  assert.equal(codes.get('croft plan .'), 0)
  const seen = said.length
  for (let tries = 0; !/Running|Done/.test(said.slice(seen)) && tries < 6_000; tries++) await sleep(100)
  assert.match(said.slice(seen), /push seen/)
  signal(tour, 'SIGINT')
  assert.equal((await tour.ended).code, 0)
})
