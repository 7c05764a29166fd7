// Package authz decides who may do what, by rules in the format of OpenStack's policy files (spec/api.md §10).
//
// A policy file maps names of rules to expressions; a rule that it leaves out keeps its default. Parse reads one into
// a Policy, Open reads one from disk and again whenever it changes. An expression is made of
//
//	@  !                     always, never; the empty text and the empty list are always, too
//	role:NAME                the caller has the role, compared without regard to case
//	rule:NAME                what another rule says
//	KEY:VALUE                a credential of the caller: user_id, user_name, project_id, domain_id or roles, and
//	                         user, tenant and domain as other names of the ids
//	'TEXT':VALUE             a constant, also without quotes if it is a number, True or False
//	not  and  or  ( )        binding in this order, in any case of letters
//	[[a, b], [c]]            an old form of a and b or c
//
// Other servers are not asked (http:, https:), and None has no meaning, as nothing matches what is unknown.
//
// In a NAME of a role and in a VALUE, %(project_id)s and %(user_id)s stand for the caller's own, %% for a percent sign.
//
// Invariants:
//   - What is unknown matches nothing: a key that no caller has, a credential that this caller does not have, a target
//     that there is not, a rule that is not registered.
//   - A Policy never changes, refers to no rule that it does not have and holds no cycle. A question costs at most one
//     evaluation of each rule.
//   - What a file may cost is bounded: MaxSize, MaxRules, maxNesting.
//   - Nothing is taken for something that it does not say: a file is read whole or not at all. Where the reference
//     takes an expression that it cannot read for "never", Parse says what is wrong with it.
package authz
