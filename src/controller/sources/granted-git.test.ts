import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { EVERYWHERE, egressOf } from '../../lib/egress.ts'
import { findProgram } from '../../lib/find-program.ts'
import { objectsAtCommit, permitRepository } from '../../source/git/fetched-git.ts'
import { type GitServer, gitServerMissing, startGitServer } from '../testing/git-server.ts'

/* A repository that a source with a grant names is fetched without anything of the user that croft runs as. */

describe('[S-37] a private repository that an add-on names', { skip: gitServerMissing() ?? false }, () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'croft-alone-'))
  const home = path.join(scratch, 'home')
  const mark = path.join(scratch, 'mark')
  const { HOME, XDG_CONFIG_HOME, PATH } = process.env
  let server: GitServer
  let port = ''
  let commit = ''
  /** A proxy that croft's user has configured. */
  let taken = 0
  const proxy = createServer((socket) => {
    taken++
    socket.destroy()
  })

  before(async () => {
    const work = path.join(scratch, 'work')
    mkdirSync(work)
    const git = (...words: string[]) =>
      execFileSync('git', ['-C', work, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
        encoding: 'utf8',
      }).trim()
    git('init', '--quiet', '--initial-branch=main')
    writeFileSync(path.join(work, 'map.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: private}\n')
    git('add', '.')
    git('commit', '--quiet', '-m', 'one')
    commit = git('rev-parse', 'HEAD')
    git('clone', '--quiet', '--bare', '.', path.join(scratch, 'private.git'))
    server = await startGitServer(scratch, 'hunter2')
    port = new URL(server.url('')).port
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
    // Certificates are the system's. Here the one of the server is among them.
    const bin = path.join(scratch, 'bin')
    mkdirSync(bin)
    const real = await findProgram('git', process.env)
    const script = (name: string, text: string) => writeFileSync(path.join(bin, name), text, { mode: 0o755 })
    script('git', `#!/bin/sh\nexec ${real} -c http.sslCAInfo=${server.ca} "$@"\n`)
    script('ssh', `#!/bin/sh\ntouch ${mark}\nexit 1\n`)
    process.env.PATH = `${bin}:${PATH}`
  })
  after(async () => {
    await server.close()
    proxy.close()
    process.env.PATH = PATH
    process.env.HOME = HOME
    if (XDG_CONFIG_HOME === undefined) delete process.env.XDG_CONFIG_HOME
    else process.env.XDG_CONFIG_HOME = XDG_CONFIG_HOME
    rmSync(scratch, { recursive: true })
  })

  function live(files: Readonly<Record<string, string>>): void {
    rmSync(home, { recursive: true, force: true })
    rmSync(mark, { force: true })
    taken = 0
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(home, name)), { recursive: true })
      writeFileSync(path.join(home, name), text, { mode: 0o600 })
    }
    process.env.HOME = home
    process.env.XDG_CONFIG_HOME = path.join(home, 'xdg')
  }

  const fetched = (egress = egressOf([`localhost:${port}`, `127.0.0.1:${port}`])) =>
    objectsAtCommit(permitRepository({ url: server.url('private.git'), commit, path: 'map.yaml' }, egress))

  const helper = () =>
    `[credential]\n\thelper = "!f() { touch ${mark}; echo username=git; echo password=hunter2; }; f"\n`
  const basic = Buffer.from('git:hunter2').toString('base64')

  const WAYS: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
    'a helper of the home': () => ({ '.gitconfig': helper() }),
    'a helper of the XDG folder': () => ({ 'xdg/git/config': helper() }),
    'a .netrc': () => ({ '.netrc': 'machine localhost login git password hunter2\n' }),
    'a header of the home': () => ({ '.gitconfig': `[http]\n\textraHeader = Authorization: Basic ${basic}\n` }),
  }

  for (const [way, files] of Object.entries(WAYS))
    test(`is read by the administrator with ${way}, and by no source with a grant`, async () => {
      live(files())
      const own = await fetched(EVERYWHERE)
      assert.ok('objects' in own, JSON.stringify(own))
      rmSync(mark, { force: true })
      const asked = server.asked.length
      const found = await fetched()
      assert.ok('problem' in found, JSON.stringify(found))
      assert.ok(server.asked.length > asked, 'the server was reached')
      assert.deepEqual(
        server.asked.slice(asked).filter((header) => header !== ''),
        [],
      )
      assert.equal(existsSync(mark), false)
    })

  const LEADING: Readonly<Record<string, () => string>> = {
    'another address': () => `[url "ssh://git@127.0.0.1/"]\n\tinsteadOf = https://localhost:${port}/\n`,
    'a proxy for one host': () =>
      `[http "https://localhost:${port}/"]\n\tproxy = http://127.0.0.1:${(proxy.address() as AddressInfo).port}\n`,
  }

  for (const [way, file] of Object.entries(LEADING))
    test(`is not led to ${way} by the configuration of croft's user`, async () => {
      live({ '.gitconfig': file() })
      assert.ok('problem' in (await fetched()))
      assert.deepEqual({ taken, ssh: existsSync(mark) }, { taken: 0, ssh: false })
    })
})
