import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CROFT, personIn } from './as-a-person.ts'
import { config, hostsYaml } from './keep.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'])

const SPEC = `  users:
    - {name: deploy, groups: [adm], sudo: true}
  files:
    - {path: /etc/lab/1.conf, content: "1\\n"}
    - {path: /etc/lab/2.conf, content: "2\\n"}
    - {path: /etc/lab/3.conf, content: "3\\n"}
    - {path: /etc/lab/mine.conf, content: "4\\n", owner: deploy, group: deploy}
  lines:
    - {path: /etc/environment, line: "LAB_1=1", match: "LAB_1="}
    - {path: /etc/environment, line: "LAB_2=2", match: "LAB_2="}
  blocks:
    - {path: /etc/profile.d/lab.sh, name: aliases, content: "alias ll='ls -l'\\n"}
  units:
    - {name: lab-sleep.service, enabled: true, state: started, content: "[Service]\\nExecStart=/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n"}
  time: {timezone: Europe/Zurich}
  sshd: {x11Forwarding: false}
`
const ITEMS = 11

/** How many items are marked on the host before croft is killed. */
const MOMENTS = [1, 5, 9]

test(
  '[F-23] the real program is killed again and again while it configures a real host: nothing is doubled, nothing lost',
  within,
  async (t) => {
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    const at = (path: string) => join(cow.root, path)
    const git = join(one.directory, 'git')
    mkdirSync(git)
    writeFileSync(join(git, 'hosts.yaml'), hostsYaml(one))
    writeFileSync(join(git, 'config.yaml'), config('lab', 'cow', SPEC))
    // Every session reads this file: what croft needs it must find all the same.
    writeFileSync(at('etc/environment'), 'PATH=/bin\nLAB_2=theirs\n')
    const passwd = readFileSync(at('etc/passwd'), 'utf8')
    // Read in this process: while another starts on a busy computer, croft may end.
    const items = at('var/lib/croft/items')
    const marks = () => (existsSync(items) ? readdirSync(items).filter((name) => !name.startsWith('.')).length : 0)

    for (const moment of MOMENTS) {
      const child = spawn(CROFT, ['apply', git, '--yes', '--progress', 'quiet'], { ...personIn(one), stdio: 'ignore' })
      const over = new Promise<boolean>((resolve) => child.once('exit', () => resolve(true)))
      const pause = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 30))
      while (marks() < moment) assert.equal(await Promise.race([over, pause()]), false, 'it ended before it was killed')
      child.kill('SIGKILL')
      await over
    }
    t.diagnostic(`killed ${MOMENTS.length} times`)
    const whole = spawnSync(CROFT, ['apply', git, '--yes', '--progress', 'quiet'], {
      ...personIn(one),
      encoding: 'utf8',
    })
    assert.equal(whole.status, 0, `${whole.stdout}${whole.stderr}`)
    const plan = spawnSync(CROFT, ['plan', git], { ...personIn(one), encoding: 'utf8' })
    assert.equal(plan.status, 0, plan.stdout)
    assert.equal(marks(), ITEMS)
    assert.equal(readFileSync(at('etc/environment'), 'utf8'), 'PATH=/bin\nLAB_2=2\nLAB_1=1\n')
    assert.equal(readFileSync(at('etc/passwd'), 'utf8').match(/^deploy:/gm)?.length, 1)
    assert.equal(readFileSync(at('etc/profile.d/lab.sh'), 'utf8').match(/croft begins/g)?.length, 1)

    writeFileSync(join(git, 'config.yaml'), config('lab', 'cow', '  directories:\n    - {path: /etc}\n'))
    const back = spawnSync(CROFT, ['apply', git, '--yes', '--progress', 'quiet'], {
      ...personIn(one),
      encoding: 'utf8',
    })
    assert.equal(back.status, 0, `${back.stdout}${back.stderr}`)
    assert.equal(readFileSync(at('etc/environment'), 'utf8'), 'PATH=/bin\nLAB_2=theirs\n')
    assert.equal(readFileSync(at('etc/passwd'), 'utf8'), passwd)
    for (const path of ['etc/lab/1.conf', 'etc/profile.d/lab.sh', 'etc/ssh/sshd_config.d/00-croft.conf'])
      assert.equal(existsSync(at(path)), false, path)
    assert.equal(marks(), 0)
  },
)
