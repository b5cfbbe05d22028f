import { EXTERNAL_NAME } from '../fields/annotations.ts'
import { show } from '../fields/explain.ts'
import { badValue, missingField } from '../fields/problem.ts'
import { dnsName } from '../fields/text.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import { unkeptContainerFields } from './container-schema.ts'
import type { ContainerFields } from './container-spec.ts'

const NO_WAIT = 'does not need it: it starts work, looks again later and never waits inside a step'

const REASONS: Readonly<Record<string, string>> = {
  clone: 'does not clone containers yet: give operatingSystem.templateFileId',
  idmap: 'does not manage it: it is in a file of the host that the API cannot write',
  waitForIp: 'does not need it: a container is Ready when it runs',
}

/** Checks fields against each other, and warns of ignored ones. */
export function checkContainer(fields: ContainerFields, manifest: RawManifest): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const at = (...path: (string | number)[]) => ['spec', 'forProvider', ...path]
  if (fields.nodeName === undefined) {
    const message = 'nodeName is missing; it names the Proxmox host'
    problems.push(missingField(at('nodeName'), message))
  }
  if (fields.initialization?.hostname === undefined && !dnsName.safeParse(manifest.metadata.name).success) {
    problems.push(
      badValue(
        ['metadata', 'name'],
        'metadata.name cannot be the host name of a container',
        'give it one with initialization.hostname',
      ),
    )
  }
  for (const [index, mount] of (fields.mountPoint ?? []).entries()) {
    const named = mount.volume.startsWith('/') || mount.volume.includes(':')
    if (named && mount.size !== undefined)
      problems.push(
        badValue(at('mountPoint', index, 'size'), 'size goes with a storage, on which a new volume is made'),
      )
  }
  for (const name of Object.keys(unkeptContainerFields) as (keyof typeof unkeptContainerFields)[]) {
    if (fields[name] === undefined) continue
    problems.push({
      code: 'not-kept',
      path: at(name),
      severity: 'warning',
      message: `croft reads ${name} but ${name.startsWith('timeout') ? NO_WAIT : REASONS[name]}`,
    })
  }
  return [...problems, ...adoption(fields, manifest)]
}

function adoption(fields: ContainerFields, manifest: RawManifest): readonly FieldProblem[] {
  const name = manifest.metadata.annotations[EXTERNAL_NAME]
  if (name === undefined) return []
  const path = ['metadata', 'annotations', EXTERNAL_NAME]
  const [, host, vmid] = /^(?:([a-zA-Z0-9-]+)\/)?([1-9][0-9]{2,8})$/.exec(name) ?? []
  if (vmid === undefined)
    return [badValue(path, `${EXTERNAL_NAME} is ${show(name)}; expected a VMID like "108" or "host/108"`)]
  if (fields.vmId !== undefined && String(fields.vmId) !== vmid)
    return [badValue(path, `${EXTERNAL_NAME} says ${vmid}, vmId says ${fields.vmId}`)]
  if (host !== undefined && fields.nodeName !== undefined && host !== fields.nodeName)
    return [badValue(path, `${EXTERNAL_NAME} says host ${host}, nodeName says ${fields.nodeName}`)]
  return []
}
