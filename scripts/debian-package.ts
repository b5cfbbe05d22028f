import { spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PACKED_AT, type PackedFile } from './release-parts.ts'

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Writes `croft_VERSION_ARCH.deb`; the same files give the same bytes. Answers its path. */
export function debianPackage(tree: readonly PackedFile[], unit: string, version: string, out: string): string {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch
  const room = mkdtempSync(join(tmpdir(), 'croft-deb-'))
  try {
    const put = (name: string, bytes: string | Uint8Array, mode = 0o644) => {
      mkdirSync(dirname(join(room, name)), { recursive: true })
      writeFileSync(join(room, name), bytes)
      chmodSync(join(room, name), mode)
    }
    for (const { name, bytes, mode } of tree) put(`usr/${name}`, bytes, mode)
    put('usr/share/doc/croft/copyright', COPYRIGHT)
    put('usr/lib/systemd/system/croft.service', unit)
    const kib = Math.ceil(tree.reduce((sum, { bytes }) => sum + bytes.length, 0) / 1024)
    put('DEBIAN/control', control(version, architecture, kib))
    put('DEBIAN/postinst', POSTINST, 0o755)
    put('DEBIAN/prerm', PRERM, 0o755)
    put('DEBIAN/postrm', POSTRM, 0o755)
    for (const path of globSync('**', { cwd: room, withFileTypes: true })) {
      const full = join(path.parentPath, path.name)
      if (path.isDirectory()) chmodSync(full, 0o755)
      utimesSync(full, PACKED_AT, PACKED_AT)
    }
    chmodSync(room, 0o755)
    utimesSync(room, PACKED_AT, PACKED_AT)
    const file = join(out, `croft_${version}_${architecture}.deb`)
    mkdirSync(out, { recursive: true })
    const built = spawnSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', room, file], {
      encoding: 'utf8',
      env: { ...process.env, SOURCE_DATE_EPOCH: String(PACKED_AT) },
    })
    if (built.status !== 0) throw new Error(`dpkg-deb could not build ${file}: ${built.stderr ?? built.error?.message}`)
    return file
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

export function serviceUnit(directory: string): string {
  return readFileSync(join(directory, 'deploy', 'croft.service'), 'utf8')
}

function control(version: string, architecture: string, kib: number): string {
  return `Package: croft
Version: ${version}
Architecture: ${architecture}
Maintainer: croft <releases@croft>
Installed-Size: ${kib}
Depends: libc6 (>= 2.28), libstdc++6, git, openssh-client, ca-certificates, passwd
Recommends: gnupg
Section: admin
Priority: optional
Description: keeps K3s clusters and their machines as Git declares them
 Describe hosts, machines, K3s clusters and add-ons in YAML and commit. croft
 compares Git with Proxmox, libvirt and hosts over SSH, shows what it would
 change, does it and keeps looking. It brings its own Node.js.
`
}

const COPYRIGHT = `croft is licensed under the Apache License 2.0, see
/usr/share/doc/croft/LICENSE. Licences of bundled libraries are in
/usr/lib/croft/dist/THIRD-PARTY-LICENSES. /usr/lib/croft/node is Node.js,
licensed under the MIT license and the licenses that it names.
`

/** The service is neither enabled nor started: without a configuration there is nothing to follow. */
const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  if ! getent passwd croft >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/croft --no-create-home --shell /usr/sbin/nologin croft
  fi
  install -d -m 0750 -o root -g croft /etc/croft
  install -d -m 0700 -o croft -g croft /var/lib/croft
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    # On upgrade a running controller goes on with the new version.
    if [ -n "$2" ]; then systemctl try-restart croft.service; fi
  fi
fi
`

const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now croft.service
fi
`

/** Keys of clusters lie in /var/lib/croft: a purge must not be the end of them. */
const POSTRM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then
  rmdir /etc/croft 2>/dev/null || true
  if [ -d /var/lib/croft ] && ! rmdir /var/lib/croft 2>/dev/null; then
    echo 'croft: /var/lib/croft stays; it has the keys of your clusters. Delete it by hand when you no longer need them.' >&2
  fi
fi
`
