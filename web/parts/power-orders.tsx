import type { PowerOnPage } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { useFetched } from '../hooks.ts'
import { serverNow } from '../live.ts'
import { may, ui, wish, withRight } from '../ui.ts'
import { Loading } from './bits.tsx'
import { Icon } from './icon.tsx'
import { PowerHolds } from './power-holds.tsx'
import { Tiers } from './power-tiers.tsx'

/** The buttons of a Power, with their effects. */
export function PowerOrders({ power }: { readonly power: PowerOnPage }) {
  const { name, wanted, held } = power
  const other = wanted.state === 'on' ? 'off' : 'on'
  return (
    <div class="buttons">
      {held.length > 0 ? (
        <button
          type="button"
          class="button"
          onClick={() => withRight('power', () => void wish('power', { target: name, order: 'release' }))}
        >
          Release
        </button>
      ) : (
        <button type="button" class="button" onClick={() => withRight('power', () => askHold(power))}>
          <Icon name="pause" size={16} /> Hold
        </button>
      )}
      <button type="button" class="button is-main" onClick={() => withRight('power', () => askSwitch(power, other))}>
        <Icon name="power" size={16} /> Switch {other}
      </button>
    </div>
  )
}

function askSwitch({ name }: PowerOnPage, state: 'on' | 'off'): void {
  const said = { reason: '', ignoreHolds: false }
  ui.set({
    confirm: {
      title: `Switch ${name} ${state}?`,
      wide: true,
      body: <SwitchBody target={name} state={state} said={said} />,
      action: `Switch ${state}`,
      danger: state === 'off',
      command: `croft power ${state} ${name}`,
      go: async () => {
        await wish('power', {
          target: name,
          order: state,
          ...(said.reason === '' ? {} : { reason: said.reason }),
          ...(said.ignoreHolds ? { ignoreHolds: true } : {}),
        })
      },
    },
  })
}

/** Shows the planner's current steps, and asks for the reason. */
function SwitchBody({
  target,
  state,
  said,
}: {
  readonly target: string
  readonly state: 'on' | 'off'
  readonly said: { reason: string; ignoreHolds: boolean }
}) {
  const { value, trouble } = useFetched(() => api.powerPlan(target, state), [target, state])
  return (
    <>
      <p>
        {state === 'off'
          ? 'Tier by tier: each one starts when croft has verified that the one before is down. croft records in the cluster what runs now, and restores it later.'
          : 'Tier by tier: each one starts when croft has verified that the one before is up. Workloads get their replicas back.'}
      </p>
      {trouble !== undefined && <p class="tone-bad">{trouble.message}</p>}
      {value === undefined && trouble === undefined && <Loading rows={3} />}
      {value !== undefined && (
        <>
          <PowerHolds holds={value.holds} refusals={value.refusals} warnings={value.warnings} />
          {value.holds.length > 0 && may('admin') && (
            <label class="tick">
              <input
                type="checkbox"
                onChange={(event) => {
                  said.ignoreHolds = event.currentTarget.checked
                }}
              />
              Do not wait for them
            </label>
          )}
          <Tiers tiers={value.tiers} plan />
        </>
      )}
      <label class="field">
        <span>Reason (others see it, and the audit log keeps it)</span>
        <input
          maxLength={200}
          onInput={(event) => {
            said.reason = event.currentTarget.value
          }}
        />
      </label>
    </>
  )
}

const HOURS = [1, 2, 4, 8, 12, 24]

/** Ask again when another time is chosen, so that the shown command matches. */
function askHold(power: PowerOnPage, said = { reason: '', hours: 2 }): void {
  const { name } = power
  ui.set({
    confirm: {
      title: `Keep ${name} as it is?`,
      body: (
        <>
          <p>Neither the schedule nor an order switches it off while it is held. A hold ends by itself.</p>
          <label class="field">
            <span>For</span>
            <select onChange={(event) => askHold(power, { ...said, hours: Number(event.currentTarget.value) })}>
              {HOURS.map((hours) => (
                <option key={hours} value={hours} selected={hours === said.hours}>
                  {hours === 1 ? 'an hour' : `${hours} hours`}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Reason</span>
            <input
              maxLength={200}
              value={said.reason}
              onInput={(event) => {
                said.reason = event.currentTarget.value
              }}
            />
          </label>
        </>
      ),
      action: 'Hold',
      command: `croft power hold ${name} --for ${said.hours}h`,
      go: async () => {
        const untilMs = Math.round(serverNow() + said.hours * 3_600_000)
        const why = said.reason === '' ? {} : { reason: said.reason }
        await wish('power', { target: name, order: 'hold', untilMs, ...why })
      },
    },
  })
}
