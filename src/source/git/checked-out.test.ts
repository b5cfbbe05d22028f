import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { EVERYWHERE } from '../../lib/egress.ts'
import { checkOut } from './checked-out.ts'
import { permitRepository } from './fetched-git.ts'

const scratch = mkdtempSync(join(tmpdir(), 'croft-checked-out-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const ORIGIN = join(scratch, 'origin')
const git = (...words: readonly string[]) =>
  execFileSync('git', ['-C', ORIGIN, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words])
    .toString()
    .trim()
mkdirSync(join(ORIGIN, 'deploy/shop'), { recursive: true })
execFileSync('git', ['init', '--quiet', ORIGIN])
writeFileSync(join(ORIGIN, 'deploy/shop/Chart.yaml'), 'name: shop\n')
writeFileSync(join(ORIGIN, 'secret.txt'), 'beside the chart\n')
symlinkSync('/etc/passwd', join(ORIGIN, 'deploy/shop/values.yaml'))
git('add', '-A')
git('commit', '--quiet', '-m', 'first')
const COMMIT = git('rev-parse', 'HEAD')
writeFileSync(join(ORIGIN, 'deploy/shop/Chart.yaml'), 'name: later\n')
git('commit', '--quiet', '-am', 'second')

let rooms = 0
function room(): string {
  rooms += 1
  const directory = join(scratch, `room-${rooms}`)
  mkdirSync(directory)
  return directory
}

test('the directory of one commit is written, nothing beside it, and a link leads nowhere', async () => {
  const into = room()
  const place = { url: ORIGIN, commit: COMMIT, path: 'deploy/shop' }
  assert.equal(await checkOut(permitRepository(place, EVERYWHERE), into, { allowLocal: true }), undefined)
  assert.equal(readFileSync(join(into, 'deploy/shop/Chart.yaml'), 'utf8'), 'name: shop\n')
  assert.equal(existsSync(join(into, 'secret.txt')), false)
  assert.equal(lstatSync(join(into, 'deploy/shop/values.yaml')).isSymbolicLink(), false)
  assert.equal(readFileSync(join(into, 'deploy/shop/values.yaml'), 'utf8'), '/etc/passwd')
})

test('what is not there, and what may not be fetched, is said', async () => {
  const said = async (place: object, allowLocal = true) =>
    (
      await checkOut(
        permitRepository({ url: ORIGIN, commit: COMMIT, path: 'deploy/shop', ...place }, EVERYWHERE),
        room(),
        { allowLocal },
      )
    )?.problem
  assert.match((await said({ path: 'deploy/other' })) ?? '', /has nothing at deploy\/other/)
  assert.match((await said({ commit: '0'.repeat(40) })) ?? '', /at 000000000000 could not be fetched/)
  assert.match((await said({}, false)) ?? '', /the address of the repository is refused/)
})
