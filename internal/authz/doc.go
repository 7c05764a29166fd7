// Package authz authorizes callers by rules in the format of OpenStack's policy files.
//
// A policy file maps names of rules to expressions; a rule that it leaves out keeps its default. Parse parses a file
// into a Policy, and Open reads one from disk and again whenever it changes. An expression consists of
//
//	@  !                     always, never; the empty text and the empty list are always, too
//	role:NAME                the caller has the role, compared without regard to case
//	rule:NAME                another rule allows the caller
//	KEY:VALUE                an attribute of the caller, such as project_id (see expression.go), or one of its roles
//	'TEXT':VALUE             a constant, also without quotes if it is a number, True, False or None
//	not  and  or  ( )        binding in this order, in any case of letters
//	[[a, b], [c]]            an old form of a and b or c
//
// Checks by other servers (http:, https:) are not supported, nor are attributes that a caller can never have.
//
// In a NAME of a role and in a VALUE, %(project_id)s and %(user_id)s stand for the caller's ids, %(site)s,
// %(validation)s and %(author)s for attributes of what the caller asks for (Target), and %% for a percent sign.
//
// Invariants:
//   - An attribute means what it means to oslo.policy. One that the caller lacks has the value None. A name that no
//     attribute has is an error of the file: its check would never pass, and so its negation always.
//   - A check of an attribute that the target lacks neither passes nor fails, and nor does its negation (Depends): in
//     oslo.policy its negation would pass. A rule whose verdict depends on it allows nothing.
//   - A Policy is immutable, has every rule that it refers to, and no cycle. Decide evaluates each rule at most once.
//   - The cost of a file is bounded: MaxSize, MaxRules, maxNesting.
//   - A file is used as a whole or not at all. Where oslo.policy treats an expression that it cannot parse as
//     "never", Parse returns an error.
package authz
