import type { Change } from '../../model/resource.ts'
import type { Step } from '../../model/step.ts'
import { type ApiFields, flagOf } from './foreign.ts'
import { printDescription, splitDescription } from './marks.ts'
import { drop, type Effect, type Option, textOf, type WantedGuest } from './option.ts'

/** The configuration slots that a declaration fills, and how they are emptied later. */
export interface SlotRule<Spec> {
  declared(spec: Spec): readonly string[]
  /** The declaration's name for a slot's device: `disks` for `scsi1`. */
  pathOf(slot: string): string
  effect(config: ApiFields, slot: string): Effect
  /** Whether it holds data, which Proxmox keeps as an unused volume after its removal. */
  holdsData(slot: string, text: string): boolean
}

/**
 * Removes devices that croft added and Git no longer declares; foreign ones stay. A disk is only detached: it stays
 * with the guest as an unused one, and a person decides about its data.
 */
export function detached<Spec extends { readonly protection?: boolean }>(rule: SlotRule<Spec>): Option<Spec> {
  return {
    create() {},
    compare(wanted, config, changes) {
      const known = wanted.mark.devices
      if (known === undefined) return
      for (const slot of leftOver(rule, wanted, config)) changes.push(detaching(rule, wanted.spec, config, slot))
      // A device that a person adds later in this slot is not croft's.
      const empty = known.filter((slot) => isGone(rule, wanted, config, slot))
      if (empty.length > 0)
        changes.push({ path: 'mark', from: known, to: known.filter((slot) => !empty.includes(slot)), effect: 'live' })
    },
    update(wanted, config, params, chosen) {
      for (const slot of leftOver(rule, wanted, config))
        if (chosen.has(`${rule.pathOf(slot)}.${slot}`)) drop(params, slot)
    },
  }
}

/** A person's text, followed by our mark's line, which also lists the slots that croft filled. */
export function description<Spec extends { readonly description?: string }>(rule: SlotRule<Spec>): Option<Spec> {
  return {
    create({ spec, mark, externalId }, params) {
      const devices = [...rule.declared(spec)].sort()
      params.description = printDescription(spec.description ?? '', { ...mark, devices }, externalId)
    },
    compare({ spec }, config, changes) {
      if (spec.description === undefined) return
      const from = splitDescription(config.description).human
      const to = spec.description.trimEnd()
      if (from !== to) changes.push({ path: 'description', from, to, effect: 'live' })
    },
    update(wanted, config, params, chosen) {
      const { spec, mark, externalId } = wanted
      const devices = filledAfter(rule, wanted, config, chosen)
      const before = mark.devices ?? []
      const more = devices.some((slot) => !before.includes(slot))
      if (!chosen.has('description') && !chosen.has('mark') && !more) return
      const declared = chosen.has('description') ? spec.description : undefined
      const human = declared ?? splitDescription(config.description).human
      params.description = printDescription(human, { ...mark, devices }, externalId)
    },
  }
}

function leftOver<Spec>(rule: SlotRule<Spec>, { spec, mark }: WantedGuest<Spec>, config: ApiFields): readonly string[] {
  if (mark.devices === undefined) return []
  const declared = rule.declared(spec)
  return mark.devices.filter((slot) => !declared.includes(slot) && textOf(config[slot]) !== undefined)
}

/** Neither declared nor present; a slot that is removed at the restart is still present. */
function isGone<Spec>(
  rule: SlotRule<Spec>,
  { spec, pending }: WantedGuest<Spec>,
  config: ApiFields,
  slot: string,
): boolean {
  return config[slot] === undefined && !rule.declared(spec).includes(slot) && pending?.includes(slot) !== true
}

/** Returns the slots that are ours after the chosen changes: remaining and newly filled ones. */
function filledAfter<Spec>(
  rule: SlotRule<Spec>,
  wanted: WantedGuest<Spec>,
  config: ApiFields,
  chosen: ReadonlySet<string>,
): readonly string[] {
  const path = (slot: string) => `${rule.pathOf(slot)}.${slot}`
  // A slot that this call empties stays listed until it is seen to be empty.
  const stay = (wanted.mark.devices ?? []).filter((slot) => !isGone(rule, wanted, config, slot))
  const filled = rule.declared(wanted.spec).filter((slot) => config[slot] === undefined && chosen.has(path(slot)))
  return [...new Set([...stay, ...filled])].sort()
}

function detaching<Spec extends { readonly protection?: boolean }>(
  rule: SlotRule<Spec>,
  spec: Spec,
  config: ApiFields,
  slot: string,
): Change {
  const text = textOf(config[slot]) ?? ''
  const data = rule.holdsData(slot, text)
  const change = {
    path: `${rule.pathOf(slot)}.${slot}`,
    from: text,
    to: data ? 'detached, kept as an unused disk' : 'taken out',
    effect: rule.effect(config, slot),
  }
  // If protection is declared off, a separate call before this one lifts it.
  if (!data || flagOf(config.protection) !== true || spec.protection === false) return change
  const message = `${slot} cannot be detached while the guest is protected`
  return { ...change, blocked: { message, allow: 'declare protection: false' } }
}

/**
 * Proxmox checks the current protection before it detaches a disk: lifting it in the same call is too late. These
 * changes go first, alone; the others follow once it is lifted.
 */
export function beforeOthers(
  { protection }: { readonly protection?: boolean },
  config: ApiFields,
  chosen: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  const lifts = protection === false && flagOf(config.protection) === true && chosen.has('protection')
  return lifts && chosen.size > 1 ? new Set(['protection']) : undefined
}

/** Drops the digest of a step after another one on the same configuration, whose version has changed by then. */
export function withoutDigest(step: Step): Step {
  if (step.lane !== 'rest') return step
  const { digest: _, ...params } = step.call.params
  return { ...step, call: { ...step.call, params } }
}
