import { mebibytes } from '../kinds/fields/number.ts'
import type { ImageSpec } from '../kinds/schemas/image.ts'
import type { Declaration } from '../model/declaration.ts'
import type { BuildSpec, K3sParts } from './build-spec.ts'

/** Returns the full build specification; undefined for an image that is downloaded. */
export function buildSpecOf({ name, spec }: Declaration<ImageSpec>): BuildSpec | undefined {
  const { build } = spec
  if (build === undefined) return undefined
  const { debian, image, architecture, k3s } = build
  const [algorithm = 'sha256', value = ''] = image?.checksum.split(':') ?? []
  return {
    name,
    architecture,
    from:
      image === undefined
        ? {
            type: 'debian',
            suite: debian?.suite ?? 'bookworm',
            ...(debian?.mirror === undefined ? {} : { mirror: debian.mirror }),
            ...(debian?.snapshot === undefined ? {} : { snapshot: debian.snapshot }),
          }
        : { type: 'disk', url: image.url, checksum: { algorithm: algorithm as 'sha256' | 'sha512', value } },
    packages: build.packages,
    files: build.files,
    run: build.run,
    sizeMb: mebibytes(build.size) ?? 3072,
    epoch: build.epoch,
    ...(k3s === undefined ? {} : { k3s: k3sParts(k3s, architecture) }),
  }
}

const RELEASES = 'https://github.com/k3s-io/k3s/releases/download'

function k3sParts(
  k3s: NonNullable<NonNullable<ImageSpec['build']>['k3s']>,
  architecture: BuildSpec['architecture'],
): K3sParts {
  const release = `${RELEASES}/${encodeURIComponent(k3s.version)}`
  const binary = { url: `${release}/k3s${architecture === 'amd64' ? '' : '-arm64'}`, sha256: k3s.sha256 }
  if (k3s.images === undefined) return { version: k3s.version, binary }
  const images = { url: `${release}/k3s-airgap-images-${architecture}.tar.zst`, sha256: k3s.images }
  return { version: k3s.version, binary, images }
}
