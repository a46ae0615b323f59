export default {
  title: "Invitations",
  empty: "No invitations",
  emptyText: "When someone shares a budget or a goal with you, it appears here.",
  shares: {
    budgets: (owner: string) => `${owner} wants to share this budget with you`,
    goals: (owner: string) => `${owner} wants to save for this goal with you`,
  },
  someone: "Someone",
  roles: {
    budgets: { viewer: "You can see the budget.", editor: "You can see and change the budget." } as Record<string, string>,
    goals: { viewer: "You can see the goal.", editor: "You can assign money of your wallets, which only you see, and change the goal." } as Record<string, string>,
  },
  share: (percentage: string) => `Your share is ${percentage}.`,
  accept: "Accept",
  decline: "Decline",
  acceptLabel: (budget: string) => `Accept ${budget}`,
  declineLabel: (budget: string) => `Decline ${budget}`,
  accepted: (budget: string) => `You now share ${budget}`,
  declined: (budget: string) => `You declined ${budget}`,
  gone: "This invitation was withdrawn.",
};
