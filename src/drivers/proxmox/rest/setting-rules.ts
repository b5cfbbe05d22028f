import type { Destruction } from '../../../model/destruction.ts'
import type { Change, ObservedResource, Survey } from '../../../model/resource.ts'
import type { SettingSpec } from '../../../model/rest.ts'
import type { Obstacle, Readiness } from '../../../model/rules.ts'
import type { Step } from '../../../model/step.ts'
import { definitionNamed } from '../../../proxmox/registry.ts'
import { hostObstacle } from '../obstacles.ts'
import { diffSetting } from './diff.ts'
import { EVERYWHERE, listName } from './paths.ts'
import { definitionOf } from './read-settings.ts'
import { LEAVING, UNAPPLIED } from './rows.ts'
import { type KnownSecrets, remembering, rotation } from './secrets.ts'
import { createSteps, deleteSteps, updateSteps } from './steps.ts'

const NOTHING: KnownSecrets = { known: undefined, rotate: undefined }

/** The rules of every setting, driven by its definition. */
export const settingRules = {
  declaredId: ({ id }: SettingSpec): string => id,
  listOf: (setting: SettingSpec): string => listName(definitionNamed(setting.definition), setting),
  hostOf: ({ host }: SettingSpec): string => host ?? EVERYWHERE,
  obstacles(setting: SettingSpec, survey: Survey): readonly Obstacle[] {
    // A missing host has nothing, not even what every host has.
    const host = setting.host === undefined ? undefined : hostObstacle(setting.host, survey)
    if (host !== undefined) return [host]
    const { rootOnly, noun, create } = definitionNamed(setting.definition)
    if (rootOnly === undefined && create !== undefined) return []
    return [
      {
        message: `no token may make the ${noun} ${setting.id}: Proxmox leaves that to root@pam itself`,
        allow: rootOnly === undefined ? 'make it by hand' : `run on a host: ${rootOnly.replace('{id}', setting.id)}`,
      },
    ]
  },
  diff(setting: SettingSpec, observed: ObservedResource, remembered: KnownSecrets = NOTHING): readonly Change[] {
    const definition = definitionNamed(setting.definition)
    const changes = diffSetting(definition, setting, observed)
    const { [LEAVING]: leaving } = observed.close?.config ?? {}
    return leaving === true ? changes : [...changes, ...rotation(definition, setting, remembered)]
  },
  createSteps: (setting: SettingSpec, rotate?: string): readonly Step[] =>
    createSteps(definitionNamed(setting.definition), setting).map((step) => remembering(step, rotate)),
  updateSteps: (
    setting: SettingSpec,
    observed: ObservedResource,
    changes: readonly Change[],
    rotate?: string,
  ): readonly Step[] =>
    updateSteps(definitionNamed(setting.definition), setting, observed, changes).map((step) =>
      remembering(step, rotate),
    ),
  deleteSteps(destruction: Destruction): readonly Step[] {
    const definition = definitionOf(destruction.observed)
    return definition === undefined ? [] : deleteSteps(definition, destruction)
  },
  readiness(setting: SettingSpec, observed: ObservedResource): Readiness {
    const { noun } = definitionNamed(setting.definition)
    const config = observed.close?.config ?? {}
    const what = `${noun} ${setting.id}`
    if (config[LEAVING] === true)
      return { ready: false, reason: 'Leaving', message: `${what} is going`, status: 'Leaving' }
    return config[UNAPPLIED] === undefined
      ? { ready: true, reason: 'Present', message: `${what} is there`, status: 'Present' }
      : { ready: false, reason: 'NotInForce', message: `${what} is written and not in force yet`, status: 'Pending' }
  },
} satisfies Record<string, (...args: never[]) => unknown>
