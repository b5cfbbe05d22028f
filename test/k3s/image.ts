import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What pods of the lab are made of, and what K3s itself wants for every pod. */
export const IMAGE = 'docker.io/library/lab:1'

/**
 * An archive with one small image, as K3s takes it from its directory of images: no registry is
 * reached from the lab. Answers the path.
 */
export function makeImage(directory: string, busybox: string): string {
  const work = join(directory, 'image')
  mkdirSync(join(work, 'layer/bin'), { recursive: true })
  copyFileSync(busybox, join(work, 'layer/bin/busybox'))
  for (const name of ['sh', 'sleep']) run(work, 'ln', '-sf', 'busybox', `layer/bin/${name}`)
  run(work, 'tar', '--owner=0', '--group=0', '-C', 'layer', '-cf', 'layer.tar', '.')
  const layer = createHash('sha256')
    .update(readFileSync(join(work, 'layer.tar')))
    .digest('hex')
  const config = JSON.stringify({
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Entrypoint: ['/bin/sleep', '1000000'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
  })
  writeFileSync(join(work, 'config.json'), config)
  const manifest = [{ Config: 'config.json', RepoTags: [IMAGE], Layers: ['layer.tar'] }]
  writeFileSync(join(work, 'manifest.json'), JSON.stringify(manifest))
  const path = join(directory, 'lab-image.tar')
  run(work, 'tar', '-cf', path, 'manifest.json', 'config.json', 'layer.tar')
  rmSync(work, { recursive: true, force: true })
  return path
}

function run(cwd: string, program: string, ...args: readonly string[]): void {
  const ran = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${ran.stderr}`)
}
