import { annotatedPolicy } from './fields/annotations.ts'
import { croftKind } from './fields/croft-kind.ts'
import { endingHint, wrongEnding } from './fields/file-name.ts'
import { keeperOf } from './hypervisors/registry.ts'
import type { FieldProblem, Part } from './kind.ts'
import { connectionOf, findHost, unbound, unknownHost } from './machines/bindings.ts'
import { imageFile, imageHosts, imageName, isJustInCase } from './machines/image-files.ts'
import { type ImageSpec, imageSchema } from './schemas/image.ts'

/** An image that machines are made from, on every host that needs it. */
export const image = croftKind<ImageSpec>({
  kind: 'Image',
  plural: 'images',
  shortNames: ['img'],
  summary: 'An image that machines are made from; a copy is kept on every host that needs it.',
  schema: imageSchema,

  check(spec, manifest) {
    const problems: FieldProblem[] = []
    problems.push(...checkImageBuild(spec))
    if (spec.url === undefined && spec.build === undefined) return problems
    const name = imageName(spec, manifest.metadata.name)
    const path = ['spec', spec.fileName === undefined ? 'url' : 'fileName']
    const wrong = name === undefined ? 'the url does not end in a file name' : wrongEnding(name, spec.content)
    if (wrong !== undefined) problems.push({ code: 'bad-value', path, message: wrong, hint: endingHint(spec.fileName) })
    if (spec.checksum === undefined && spec.build === undefined) {
      problems.push({
        code: 'no-checksum',
        path: ['spec', 'url'],
        severity: 'warning',
        message: 'without a checksum croft cannot notice that the file behind the url changed',
        hint: 'add checksum: sha256:…',
      })
    }
    return problems
  },

  policy: (spec, manifest) => ({ ...annotatedPolicy(manifest), deletion: spec.deletionPolicy }),

  expand(declaration, lookup) {
    const problems: FieldProblem[] = []
    const parts: Part[] = []
    const named = declaration.spec.hosts !== undefined
    for (const [index, name] of imageHosts(declaration, lookup).entries()) {
      const path = ['spec', 'hosts', index]
      const host = findHost(name, declaration.namespace, lookup)
      const file = host === undefined ? undefined : imageFile(declaration, host)
      const connection = host === undefined ? {} : connectionOf(host, path, lookup)
      const { hypervisor } = keeperOf(host, lookup)
      if (file !== undefined && !('problem' in connection)) {
        parts.push({
          key: file.key,
          ...connection,
          desired: { type: 'file', file: file.file },
          needs: hypervisor.placeOf(file.file.host, file.file.storage, lookup),
          ...(isJustInCase(declaration, name, lookup) ? { justInCase: true } : {}),
        })
        continue
      }
      // A host that only a machine names is reported on that machine; the other hosts get their copy.
      if (!named) continue
      if (host === undefined) problems.push(unknownHost(name, path, lookup))
      else if ('problem' in connection) problems.push(connection.problem)
      else problems.push(unbound('storages', declaration.spec.storage, host, path, lookup))
    }
    return problems.length > 0 ? { problems } : { role: 'resources', parts }
  },
})

function checkImageBuild(spec: ImageSpec): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const bad = (path: readonly string[], message: string, hint?: string) =>
    problems.push({ code: 'bad-value', path: ['spec', ...path], message, ...(hint === undefined ? {} : { hint }) })
  const { url, build } = spec
  if ((url === undefined) === (build === undefined))
    bad(
      url === undefined ? ['storage'] : ['build'],
      'an image comes from a url or from a build',
      'write one of url and build',
    )
  if (build === undefined) return problems
  if ((build.debian === undefined) === (build.image === undefined))
    bad(['build'], 'an image is built from debian or from image', 'write one of them')
  if (build.debian?.mirror !== undefined && build.debian.snapshot !== undefined)
    bad(['build', 'debian', 'mirror'], 'a snapshot is its own mirror', 'leave mirror out')
  if (spec.content !== 'import') bad(['content'], 'a built image is a disk image', 'leave content out')
  return problems
}
