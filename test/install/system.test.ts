import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { image } from '../../scripts/image.ts'
import { manPages } from '../../scripts/man-pages.ts'
import { packages } from '../../scripts/package.ts'
import { sha256 } from '../../src/cli/verify-release.ts'
import { ensureHostRoot, hostRootPath } from '../real-ssh/host-root.ts'
import { cloneInto, must, ROOT } from './clone.ts'
import { planAgainstSimulator } from './try-out.ts'

const room = mkdtempSync(join(tmpdir(), 'croft-packages-'))
after(() => rmSync(room, { recursive: true, force: true }))
const out = join(room, 'out')

describe('npm run package', () => {
  let clone = ''
  const made = (ending: string) => join(out, readdirSync(out).find((name) => name.endsWith(ending)) ?? ending)
  before(() => {
    clone = cloneInto(join(room, 'clone'))
    // What `npm run package` runs, without its set-up: node_modules are those of this clone, and stay as they are.
    must('node', ['bin/run', 'scripts/package.ts', '--out', out], clone)
  })

  test('makes the same bytes again', () => {
    const again = join(room, 'again')
    packages(clone, again)
    assert.equal(readdirSync(out).length, 2)
    for (const name of readdirSync(out))
      assert.equal(sha256(readFileSync(join(again, name))), sha256(readFileSync(join(out, name))), name)
  })

  test('makes a tarball that runs wherever it is unpacked, by its own Node', async () => {
    const place = join(room, 'place with a space')
    const home = join(room, 'home')
    for (const folder of [place, home]) mkdirSync(folder)
    must('tar', ['-xzf', made('.tar.gz'), '-C', place, '--strip-components=1'], room)
    const croft = join(home, 'croft')
    symlinkSync(join(place, 'bin/croft'), croft)
    const env = { HOME: home, XDG_CACHE_HOME: '', XDG_STATE_HOME: '', CROFT_STATE: '' }
    assert.match(must(croft, ['version'], home, env), /Node 24\./)
    await planAgainstSimulator(croft, join(place, 'lib/croft/examples/machines'), home, env)
  })

  test('npm run image makes an image without a shell that runs croft, not as root, on a root that it cannot write', () => {
    // As `npm run image -- --out release`, without its set-up.
    must('node', ['bin/run', 'scripts/image.ts', '--out', 'release'], clone)
    const made = image(clone, join(room, 'image'))
    for (const path of made)
      assert.equal(
        sha256(readFileSync(path)),
        sha256(readFileSync(join(clone, 'release', basename(path)))),
        `${path} is the same again`,
      )
    const [archive = '', chart = ''] = made
    const layout = join(room, 'layout')
    mkdirSync(layout)
    must('tar', ['-xf', archive, '-C', layout], room)
    const blob = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'))
    const json = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    const [listed] = json(join(layout, 'index.json')).manifests as readonly { readonly digest: string }[]
    const manifest = json(blob(listed?.digest ?? '')) as {
      readonly config: { readonly digest: string }
      readonly layers: readonly { readonly digest: string }[]
    }
    const { config } = json(blob(manifest.config.digest)) as {
      readonly config: { readonly User: string; readonly Entrypoint: readonly string[] }
    }
    assert.equal(config.User, '65532:65532')
    const root = join(room, 'rootfs')
    mkdirSync(root)
    const names = manifest.layers.flatMap(({ digest }) => {
      assert.equal(`sha256:${sha256(readFileSync(blob(digest)))}`, digest)
      must('tar', ['-xzf', blob(digest), '-C', root], room)
      return must('tar', ['-tzf', blob(digest)], room)
        .trim()
        .split('\n')
    })
    const programs = names.filter((name) => /(?:^|\/)s?bin\/[^/.]+$/.test(name))
    assert.deepEqual(programs.toSorted(), [
      'opt/croft/bin/croft',
      'opt/croft/bin/run',
      'usr/bin/ssh',
      'usr/bin/ssh-keygen',
      'usr/bin/ssh-keyscan',
    ])
    assert.deepEqual(
      names.filter((name) => /(?:^|\/)(?:ba|da|z|k|c|fi)?sh$|busybox|perl|python|apt|dpkg/.test(name)),
      [],
    )
    assert.match(must('tar', ['-tzf', chart], room), /^croft\/Chart\.yaml$/m)
    if (process.getuid?.() !== 0) return
    const ran = must('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', IN_IMAGE, 'in-image', root], room)
    assert.match(ran, /^croft \d+\.\d+\.\d+ \(Node 24\./m)
    assert.match(ran, /^uid 65532, EROFS/m)
    assert.match(ran, /OpenSSH_/)
  })

  const why = hostRootMissing()
  test('makes a Debian package that installs, starts and goes', { skip: why ?? false }, () => {
    const root = join(room, 'root')
    for (const part of ['', '-upper', '-work']) mkdirSync(`${root}${part}`)
    const ran = spawnSync(
      'unshare',
      ['--mount', '--propagation', 'private', 'sh', '-c', IN_ROOT, 'in-root', hostRootPath(), root, made('.deb')],
      { encoding: 'utf8' },
    )
    assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`)
    assert.match(ran.stdout, /^croft \d+\.\d+\.\d+ \(Node 24\./m)
    assert.match(ran.stdout, /^croft:x:\d+:\d+::\/var\/lib\/croft:\/usr\/sbin\/nologin$/m)
    assert.match(ran.stdout, /^root croft 750 \/etc\/croft\ncroft croft 700 \/var\/lib\/croft$/m)
    assert.match(ran.stdout, /^as croft: .* are valid/m)
    assert.match(ran.stdout, /^gone\nkept \/var\/lib\/croft\/croft\.db$/m)
    assert.match(ran.stderr, /\/var\/lib\/croft stays/)
    const listed = must('dpkg-deb', ['-c', made('.deb')], room)
    for (const path of [
      './usr/lib/systemd/system/croft.service',
      './usr/share/man/man1/croft-plan.1.gz',
      './usr/share/bash-completion/completions/croft',
      './usr/share/zsh/vendor-completions/_croft',
      './usr/share/fish/vendor_completions.d/croft.fish',
      './usr/lib/croft/dist/THIRD-PARTY-LICENSES',
    ])
      assert.ok(listed.includes(` ${path}\n`), path)
  })
})

/** As a container runtime starts it: its user, and a root that takes no writes. */
const IN_IMAGE = `set -eu
root=$1
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind /dev "$root/dev"
as() { chroot --userspec=65532:65532 "$root" "$@"; }
export PATH="/usr/bin:$PATH" HOME=/tmp
as /opt/croft/node --max-semi-space-size=1 --no-parallel-scavenge --no-maglev /opt/croft/bin/croft version
as /opt/croft/node -e 'let said = "written"; try { require("fs").writeFileSync("/opt/croft/x", "") } catch (error) { said = error.code } console.log("uid " + process.getuid() + ", " + said)'
as /usr/bin/ssh -V 2>&1
`

/** The tree of a small Debian host, in a layer that is thrown away. */
const IN_ROOT = `set -eu
lower=$1 root=$2 deb=$3
mount -t overlay croft-deb -o "lowerdir=$lower,upperdir=$root-upper,workdir=$root-work" "$root"
mount -t proc proc "$root/proc"
cp "$deb" "$root/croft.deb"
# What it depends on is not all in this tree; that is for apt to bring.
chroot "$root" dpkg --force-depends -i /croft.deb
chroot "$root" croft version
chroot "$root" getent passwd croft
chroot "$root" stat -c '%U %G %a %n' /etc/croft /var/lib/croft
printf 'as croft: '
chroot --userspec=croft:croft "$root" env HOME=/var/lib/croft croft validate /usr/lib/croft/examples/k3s-proxmox 2>&1 | tail -1
chroot "$root" systemd-analyze verify --man=no /usr/lib/systemd/system/croft.service
touch "$root/var/lib/croft/croft.db"
chroot "$root" dpkg --force-depends -i /croft.deb
chroot "$root" dpkg --purge croft
test ! -e "$root/usr/bin/croft" && test ! -e "$root/usr/lib/croft" && echo gone
echo kept $(cd "$root" && ls var/lib/croft/croft.db | sed s,^,/,)
`

function hostRootMissing(): string | undefined {
  const why =
    process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0
      ? ensureHostRoot()
      : 'it needs root and mount namespaces'
  if (why !== undefined && !['', '0', 'false'].includes(process.env.CI ?? '')) throw new Error(why)
  return why
}

test('every verb has a manual page of lines that man understands', () => {
  const pages = manPages(ROOT, '0.0.0')
  assert.ok(pages.size > 30 && pages.has('croft.1') && pages.has('croft-apply.1'))
  for (const [name, text] of pages) {
    assert.match(text, /^\.TH CROFT.* 1 "" "croft 0\.0\.0" "croft"\n\.SH NAME\ncroft.* \\- .+\n\.SH SYNOPSIS\n/, name)
    for (const line of text.split('\n')) {
      assert.match(line, /^(?:$|[^.']|\.(?:TH|SH|TP|B|BR|I|PP|nf|fi|br)(?: |$))/, `${name}: ${line}`)
      assert.doesNotMatch(line, /(?<!\\)-/, `${name}: ${line}`)
    }
  }
  assert.match(pages.get('croft-plan.1') ?? '', /exactly what/)
})
