import { volumeId } from '../../model/file.ts'
import type { Rules } from '../../model/rules.ts'
import { fileList } from './file-list.ts'
import {
  createFileSteps,
  deleteFileSteps,
  diffFile,
  fileReadiness,
  updateFileSteps,
  verifyFileSteps,
} from './file-rules.ts'
import { fileObstacles, vmObstacles } from './obstacles.ts'
import { settingRules } from './rest/setting-rules.ts'
import { deleteGuestSteps } from './vm/delete.ts'
import { diffVm } from './vm/diff.ts'
import { adoptVmSteps, createVmSteps, updateVmSteps } from './vm/plan-steps.ts'
import { vmReadiness } from './vm/readiness.ts'
import { seedNotes } from './vm/seed.ts'

/** The pure half of the Proxmox driver: which rules apply is decided here, by what the resource is. */
export const proxmoxRules: Rules = {
  declaredId({ desired }) {
    if (desired.type === 'setting') return settingRules.declaredId(desired.setting)
    if (desired.type === 'file') return volumeId(desired.file)
    return desired.vm.vmid === undefined ? undefined : String(desired.vm.vmid)
  },
  listOf({ desired }) {
    if (desired.type === 'setting') return settingRules.listOf(desired.setting)
    return desired.type === 'file' ? fileList(desired.file) : undefined
  },
  hostOf({ desired }) {
    if (desired.type === 'setting') return settingRules.hostOf(desired.setting)
    return desired.type === 'file' ? desired.file.host : desired.vm.host
  },
  choosesId({ desired }) {
    return desired.type === 'vm' && desired.vm.vmid === undefined
  },
  obstacles(resource, survey) {
    const { desired } = resource
    if (desired.type === 'setting') return settingRules.obstacles(desired.setting, survey)
    return desired.type === 'vm' ? vmObstacles(resource, desired.vm, survey) : fileObstacles(desired.file, survey)
  },
  diff(resource, sighting) {
    const { desired } = resource
    if (desired.type === 'setting') return settingRules.diff(desired.setting, sighting)
    return desired.type === 'vm' ? diffVm(resource, desired.vm, sighting) : diffFile(desired.file, sighting)
  },
  createSteps(resource, externalId, survey) {
    const { desired } = resource
    if (desired.type === 'setting') return settingRules.createSteps(desired.setting)
    return desired.type === 'vm'
      ? createVmSteps(resource, desired.vm, externalId, survey)
      : createFileSteps(desired.file, survey)
  },
  updateSteps(resource, sighting, changes, survey) {
    const { desired } = resource
    if (desired.type === 'setting') return settingRules.updateSteps(desired.setting, sighting, changes)
    return desired.type === 'vm'
      ? updateVmSteps(resource, desired.vm, sighting, changes, survey)
      : updateFileSteps(desired.file, sighting)
  },
  adoptSteps(resource, sighting) {
    const { desired } = resource
    // Nothing can be written on it that would mark it as ours.
    if (desired.type === 'setting') return []
    return desired.type === 'vm' ? adoptVmSteps(resource, desired.vm, sighting) : verifyFileSteps(desired.file)
  },
  deleteSteps(sighting) {
    if (sighting.type === 'setting') return settingRules.deleteSteps(sighting)
    return sighting.type === 'file' ? deleteFileSteps(sighting) : deleteGuestSteps(sighting)
  },
  readiness({ desired }, sighting) {
    if (desired.type === 'setting') return settingRules.readiness(desired.setting, sighting)
    return desired.type === 'vm' ? vmReadiness(desired.vm, sighting) : fileReadiness(desired.file, sighting)
  },
  notes({ desired }, sighting) {
    return desired.type === 'vm' ? seedNotes(desired.vm, sighting) : []
  },
}
